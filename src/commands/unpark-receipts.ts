import { finish } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { attemptByProviderId, messageById } from "../domain/messages/rows.ts";
import type { DrawId } from "../ids.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf } from "./steps/append-event.ts";
import { applyParked } from "./steps/apply-receipt.ts";
import { parkedName } from "./steps/send-jobs.ts";

/**
 * Applies a receipt that was parked in the very moment in which another engine recorded the answer that it waits for: neither saw
 * what the other wrote.
 */
export async function unparkReceipts(tx: Tx, claim: Claim, drawId: DrawId): Promise<void> {
  const attempt = await tx.get(attemptByProviderId, parkedName(claim.key));
  const message = attempt && (await tx.get(messageById, [attempt.account_id, attempt.mode, attempt.message_id]));
  if (attempt !== undefined && message !== undefined) await applyParked(tx, actorOf(message, drawId), message, attempt);
  await finish(tx, claim);
}
