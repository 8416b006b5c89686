import { messageById } from "../domain/messages/rows.ts";
import type { Tx } from "../transactions/transaction.ts";
import type { IdempotencyRow } from "./rows.ts";

/** Whether a key still answers: until its time is over, and as long as its message is on its way, since a retry must find it. */
export async function isRemembered(tx: Tx, { account_id, mode, subject_id, expires_at }: IdempotencyRow): Promise<boolean> {
  if (expires_at > tx.now) return true;
  if (subject_id === null) return false;
  const message = await tx.get(messageById, [account_id, mode, subject_id]);
  return message !== undefined && ["scheduled", "queued", "sending"].includes(message.status);
}
