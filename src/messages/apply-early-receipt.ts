import { type Claim, finish } from "../queue/index.ts";
import { attemptByProviderId, messageById } from "./rows.ts";
import type { Services } from "../operations/index.ts";
import type { UnscopedTx } from "../store/index.ts";
import { applyParked } from "./apply-receipt.ts";
import { heedRefusal } from "./apply-refusal.ts";

/**
 * Applies an early receipt that was stored while another engine recorded the answer that names its message: neither
 * transaction saw the other's rows.
 */
export async function applyEarlyReceipt(
  all: UnscopedTx,
  claim: Claim<"early-receipt">,
  services: Services,
): Promise<void> {
  const { transport, provider_message_id } = claim.key;
  const attempt = await all.get(attemptByProviderId, [transport, provider_message_id]);
  const tx = attempt && all.in(attempt);
  const message = attempt && (await tx?.get(messageById, [attempt.message_id]));
  if (attempt !== undefined && tx !== undefined && message !== undefined) {
    const moved = await applyParked(tx, services, message, attempt);
    await heedRefusal(tx, services, message, moved);
  }
  await finish(all, claim);
}
