import { agentSessions, runs } from "../agents/index.ts";
import {
  consentEvidence,
  consents,
  contactLabels,
  contacts,
  identities,
} from "../contacts/index.ts";
import { conversationLabels, conversations, notes } from "../conversations/index.ts";
import { eventsOfAccount } from "../events/index.ts";
import {
  attempts,
  attemptsOfMessage,
  inboundIds,
  type MessageRow,
  messages,
  timeline,
} from "../messages/index.ts";
import { noInput } from "../kernel/index.ts";
import { messageScores } from "../sentiment/index.ts";
import { observations } from "../observations/index.ts";
import type { SandboxResetResult } from "./types.ts";
import { deliveries, removeDelivery } from "../webhooks/index.ts";
import { mail, mailboxes, webchatSessions } from "../webchat/index.ts";
import { idempotency, type Procedure, type Steps } from "../operations/index.ts";
import {
  type KeyValue,
  scopedKeyOf,
  type ScopedCollection,
  type ScopedIndex,
  type Seen,
} from "../ports/index.ts";
import type { Scope } from "../kernel/index.ts";
import { scan, type Tx } from "../store/index.ts";
import { requireSandbox } from "./simulate.ts";

/** The number of rows that one transaction removes. */
const chunk = 200;

/**
 * Removes the sandbox's messages, contacts, conversations and events. Keys, senders, webhooks,
 * agents, playbooks and counts stay. Jobs of removed rows find nothing to do and end.
 */
export const resetSandbox: Procedure<Record<string, never>, SandboxResetResult> = {
  kind: "procedure",
  name: "sandbox.reset",
  input: () => noInput,
  status: 200,
  keepsAnswer: true,
  async run(steps, _input, { scope, services }) {
    requireSandbox(scope);
    let removed = await removeBefore(steps, messages, services.drawId("msg"), removeMessage);
    removed += await removeBefore(steps, deliveries, services.drawId("dlv"), removeDelivery);
    for (const { primary } of [
      timeline,
      inboundIds,
      messageScores,
      webchatSessions,
      mailboxes,
      mail,
      agentSessions,
      runs,
      conversationLabels,
      notes,
      conversations,
      identities,
      observations,
      contactLabels,
      contacts,
      consents,
      consentEvidence,
    ]) {
      removed += await removeAll(steps, primary);
    }
    removed += await removeAll(steps, eventsOfAccount);
    removed += await removeAll(steps, idempotency.primary);
    return { removed };
  },
};

/** Removes the rows before `end` and their parts. Rows created during the reset stay. */
async function removeBefore<R extends Scope>(
  steps: Steps,
  collection: ScopedCollection<R>,
  end: string,
  remove: (tx: Tx, row: Seen<R>) => Promise<void>,
): Promise<number> {
  for (let removed = 0; ;) {
    const rows = await steps.reads.range({
      index: collection.primary,
      prefix: [],
      order: "ascending",
      until: [end],
      limit: chunk,
    });
    if (rows.length === 0) return removed;
    await steps.commit(async (tx) => {
      for (const row of rows) {
        const latest = await tx.get(collection.primary, scopedKeyOf(collection, row));
        if (latest !== undefined) await remove(tx, latest);
      }
    });
    removed += rows.length;
  }
}

async function removeMessage(tx: Tx, message: Seen<MessageRow>): Promise<void> {
  for (const attempt of await tx.list(attemptsOfMessage, [message.id], chunk)) {
    tx.remove(attempts, attempt);
  }
  tx.remove(messages, message);
}

/**
 * Removes all rows of a collection, along an index that begins with account and mode. An
 * idempotency key without a subject, such as the key of this reset, stays.
 */
async function removeAll(steps: Steps, index: ScopedIndex): Promise<number> {
  const { collection } = index;
  let removed = 0;
  let after: readonly KeyValue[] | undefined;
  for (;;) {
    const range = { index, prefix: [], order: "ascending", limit: chunk } as const;
    const { rows, more, last } = await scan<Scope>(
      steps.reads,
      after === undefined ? range : { ...range, after },
    );
    removed += await steps.commit(async (tx) => {
      let gone = 0;
      for (const row of rows) {
        const latest = await tx.get(collection.primary, scopedKeyOf(collection, row));
        if (latest === undefined || ("subject_id" in latest && latest.subject_id === null)) {
          continue;
        }
        tx.remove(collection, latest);
        gone++;
      }
      return gone;
    });
    if (!more) return removed;
    after = last;
  }
}
