import { isArmed } from "../queue/rows.ts";
import { attemptsOfMessage, messageById } from "../messages/rows.ts";
import type { Tx } from "../store/transaction.ts";
import type { IdempotencyRow } from "./idempotency-rows.ts";

/** Whether a key still answers: until its time is over, and as long as its message is on its way, since a retry must find it. */
export async function isRemembered(
  tx: Tx,
  { subject_id, expires_at }: IdempotencyRow,
): Promise<boolean> {
  if (expires_at > tx.now) return true;
  if (subject_id === null) return false;
  const message = await tx.get(messageById, [subject_id]);
  if (message === undefined) return false;
  if (["scheduled", "queued", "sending"].includes(message.status)) return true;
  // Handed over, but somebody still looks after it: it may yet be found unsent, and sent again.
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  return attempt !== undefined && isArmed(tx, { kind: "follow-up", key: attempt.id });
}
