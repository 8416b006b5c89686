import { finish } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import { attemptByProviderId, messageById } from "./rows.ts";
import type { Services } from "../operations/operation.ts";
import type { Tx } from "../store/transaction.ts";
import { applyParked } from "./apply-receipt.ts";
import { heedRefusal } from "./apply-refusal.ts";
import { parkedName } from "./send-jobs.ts";

/**
 * Applies a receipt that was parked in the very moment in which another engine recorded the answer that it waits for: neither saw
 * what the other wrote.
 */
export async function unparkReceipts(tx: Tx, claim: Claim, services: Services): Promise<void> {
  const attempt = await tx.get(attemptByProviderId, parkedName(claim.key));
  const message =
    attempt && (await tx.get(messageById, [attempt.account_id, attempt.mode, attempt.message_id]));
  if (attempt !== undefined && message !== undefined) {
    const moved = await applyParked(tx, services, message, attempt);
    await heedRefusal(tx, services, message, moved);
  }
  await finish(tx, claim);
}
