import { z } from "zod";
import { consentEvidence, consents } from "../domain/consents/rows.ts";
import { contactLabels, contacts, identities } from "../domain/contacts/rows.ts";
import { conversationLabels, conversations, notes } from "../domain/conversations/rows.ts";
import { eventsOfAccount } from "../domain/events/rows.ts";
import { attempts, attemptsOfMessage, inboundIds, messages, timeline } from "../domain/messages/rows.ts";
import { messageScores } from "../domain/sentiment/rows.ts";
import { observations } from "../domain/observations/rows.ts";
import type { SandboxResetResult } from "../domain/sandbox/types.ts";
import { mail, mailboxes, webchatSessions } from "../domain/webchat/rows.ts";
import { idempotency } from "../idempotency/rows.ts";
import type { Procedure, Steps } from "../operation.ts";
import { type Index, keyOf, type KeyValue } from "../ports/collection.ts";
import type { MessageId } from "../ids.ts";
import type { Scope } from "../scope.ts";
import { look } from "../transactions/look.ts";
import { refuseLive } from "../commands/steps/refuse-live.ts";

/** Rows that one transaction removes. */
const chunk = 200;

const nothing = z.strictObject({});

/**
 * Starts over: messages, contacts, conversations and events of the sandbox are gone; keys, senders and counts stay. Jobs of what is gone
 * find nothing to do and end by themselves.
 */
export const resetSandbox: Procedure<Record<string, never>, SandboxResetResult> = {
  kind: "procedure",
  name: "sandbox.reset",
  input: () => nothing,
  status: 200,
  keepsAnswer: true,
  async run(steps, _input, { scope, services }) {
    refuseLive(scope);
    let removed = await removeMessages(steps, scope, services.drawId("msg"));
    for (const { primary } of [
      timeline,
      inboundIds,
      messageScores,
      webchatSessions,
      mailboxes,
      mail,
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
      removed += await removeAll(steps, scope, primary);
    }
    removed += await removeAll(steps, scope, eventsOfAccount);
    removed += await removeAll(steps, scope, idempotency.primary);
    return { removed };
  },
};

/** Those before `end`: what goes on being sent meanwhile belongs to the new start. */
async function removeMessages(steps: Steps, { account_id, mode }: Scope, end: MessageId): Promise<number> {
  for (let removed = 0; ;) {
    const prefix = [account_id, mode];
    const range = { index: messages.primary, prefix, order: "ascending", until: [end], limit: chunk } as const;
    const rows = await steps.reads.range(range);
    if (rows.length === 0) return removed;
    await steps.commit(async (tx) => {
      for (const { id } of rows) {
        const [message] = await tx.list(messages.primary, [account_id, mode, id], 1);
        for (const attempt of await tx.list(attemptsOfMessage, [id], chunk)) tx.remove(attempts, attempt);
        if (message !== undefined) tx.remove(messages, message);
      }
    });
    removed += rows.length;
  }
}

/**
 * Walks a collection once, along an index that begins with account and mode. A key that was claimed for what has no trace, like this
 * very reset, stays claimed.
 */
async function removeAll(steps: Steps, { account_id, mode }: Scope, index: Index): Promise<number> {
  const { collection } = index;
  let removed = 0;
  let after: readonly KeyValue[] | undefined;
  for (;;) {
    const range = { index, prefix: [account_id, mode], order: "ascending", limit: chunk } as const;
    const { rows, more, last } = await look(steps.reads, after === undefined ? range : { ...range, after });
    removed += await steps.commit(async (tx) => {
      let gone = 0;
      for (const row of rows) {
        const latest = await tx.get(collection.primary, keyOf(collection, row));
        if (latest === undefined || ("subject_id" in latest && latest.subject_id === null)) continue;
        tx.remove(collection, latest);
        gone++;
      }
      return gone;
    });
    if (!more) return removed;
    after = last;
  }
}
