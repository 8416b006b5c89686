import { arm, type JobOrder } from "../queue/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { messageScores } from "./rows.ts";
import { analyzerName } from "../ports/index.ts";
import type { ContactId, Scope } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Has a message of the contact's own words scored after this commit. */
export async function scoreLater(tx: Tx, message: MessageRow): Promise<void> {
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

/** Scores what a contact wrote, in order. Armed with each message to score, and when a merge brings some. */
export function scoreJob(
  { account_id, mode }: Scope,
  contact_id: ContactId,
  due_at: number,
): JobOrder<"score"> {
  // An engine without an analyzer leaves the job to engines that have one, as it does with transports.
  const lane = { kind: "score", slow: false, remote: analyzerName, account_id, mode } as const;
  return { kind: "score", key: { contact_id }, account_id, mode, lane, due_at };
}
