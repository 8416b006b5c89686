import { finish } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
import { attemptByProviderId, messageById } from "./rows.ts";
import type { Services } from "../operations/operation.ts";
import type { UnscopedTx } from "../store/transaction.ts";
import { applyParked } from "./apply-receipt.ts";
import { heedRefusal } from "./apply-refusal.ts";
import { parkedName } from "./send-jobs.ts";

/**
 * Applies a receipt that was parked in the very moment in which another engine recorded the answer that it waits for: neither saw
 * what the other wrote.
 */
export async function unparkReceipts(
  all: UnscopedTx,
  claim: Claim,
  services: Services,
): Promise<void> {
  const attempt = await all.get(attemptByProviderId, parkedName(claim.key));
  const tx = attempt && all.in(attempt);
  const message = attempt && (await tx?.get(messageById, [attempt.message_id]));
  if (attempt !== undefined && tx !== undefined && message !== undefined) {
    const moved = await applyParked(tx, services, message, attempt);
    await heedRefusal(tx, services, message, moved);
  }
  await finish(all, claim);
}
