import { type MessageRow, onMessageReceived } from "../messages/index.ts";
import { defineHook, type Hook, type HookHandler, onHook } from "../operations/index.ts";
import { arm, type JobOrder } from "../queue/index.ts";
import { messageScores } from "./rows.ts";
import { analyzerName } from "../ports/index.ts";
import type { ContactId, Scope } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Runs when a message got its score, or when it is certain to get none. */
export const onMessageScored: Hook<{ readonly message: MessageRow }> = defineHook("message scored");

export const sentimentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, async (tx, { message }, { scoresSentiment }) => {
    if (scoresSentiment) await scoreLater(tx, message);
  }),
];

/** Schedules the scoring of an inbound message after this commit. */
async function scoreLater(tx: Tx, message: MessageRow): Promise<void> {
  const { contact_id, id: message_id } = message;
  tx.insert(messageScores, {
    contact_id,
    message_id,
    state: "pending",
    score: null,
    created_at: tx.now,
  });
  await arm(tx, scoreJob(message, contact_id, tx.now));
}

/**
 * The job that scores a contact's messages in order. It is armed for each message to score, and
 * when a merge moves unscored messages to the contact.
 */
export function scoreJob(
  { account_id, mode }: Scope,
  contact_id: ContactId,
  due_at: number,
): JobOrder<"score"> {
  // Only engines with an analyzer take jobs of this lane. Transports work the same way.
  const lane = { kind: "score", slow: false, remote: analyzerName, account_id, mode } as const;
  return { kind: "score", key: { contact_id }, account_id, mode, lane, due_at };
}
