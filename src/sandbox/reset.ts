import {
  agents,
  agentSessions,
  agentTriggers,
  agentVersions,
  playbooks,
  playbookVersions,
  runs,
} from "../agents/index.ts";
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
  removeWords,
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
 * Removes the sandbox's messages, contacts, conversations, agents, playbooks and events. API keys,
 * senders, webhooks, operators and counts stay, with the idempotency keys of requests that changed
 * them. Other idempotency keys can be used again. Jobs of removed rows find nothing to do and end.
 * Agents are removed first, so that a turn under way sends nothing. Messages, agents and playbooks
 * that are created during the reset stay.
 */
export const resetSandbox: Procedure<Record<string, never>, SandboxResetResult> = {
  kind: "procedure",
  name: "sandbox.reset",
  input: () => noInput,
  status: 200,
  keepsAnswer: true,
  survivesReset: true,
  async run(steps, _input, { scope, services }) {
    requireSandbox(scope);
    const { drawId } = services;
    const [agentsEnd, playbooksEnd, messagesEnd] = [drawId("agt"), drawId("pb"), drawId("msg")];
    let removed = await removeAll(steps, agents.primary, { end: agentsEnd });
    removed += await removeAll(steps, agentVersions.primary, { end: agentsEnd });
    removed += await removeAll(steps, agentTriggers.primary, { end: agentsEnd });
    removed += await removeAll(steps, playbooks.primary, { end: playbooksEnd });
    removed += await removeAll(steps, playbookVersions.primary, { end: playbooksEnd });
    removed += await removeBefore(steps, messages, messagesEnd, removeMessage);
    removed += await removeBefore(steps, deliveries, drawId("dlv"), removeDelivery);
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
      removed += await removeAll<Scope>(steps, primary);
    }
    removed += await removeAll(steps, eventsOfAccount);
    // The keys of requests whose effects stay, such as this reset, stay too.
    removed += await removeAll(steps, idempotency.primary, {
      isKept: ({ survives_reset }) => survives_reset === true,
    });
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
  await removeWords(tx, message);
  tx.remove(messages, message);
}

/**
 * Removes all rows of a collection, or those before `end`, along an index that begins with account
 * and mode. Rows for which `isKept` is true stay.
 */
async function removeAll<R extends Scope>(
  steps: Steps,
  index: ScopedIndex<R>,
  { end, isKept }: { readonly end?: string; readonly isKept?: (row: R) => boolean } = {},
): Promise<number> {
  const { collection } = index;
  let removed = 0;
  let after: readonly KeyValue[] | undefined;
  for (;;) {
    const until = end === undefined ? {} : { until: [end] };
    const range = { index, prefix: [], order: "ascending", limit: chunk, ...until } as const;
    const { rows, more, last } = await scan(
      steps.reads,
      after === undefined ? range : { ...range, after },
    );
    removed += await steps.commit(async (tx) => {
      let gone = 0;
      for (const row of rows) {
        const latest = await tx.get(collection.primary, scopedKeyOf(collection, row));
        if (latest === undefined || isKept?.(latest) === true) continue;
        tx.remove(collection, latest);
        gone++;
      }
      return gone;
    });
    if (!more) return removed;
    after = last;
  }
}
