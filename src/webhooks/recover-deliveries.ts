import { arm, type Claim, finish, renew } from "../queue/index.ts";
import { deliveries, deliveryById, webhookById, webhooks } from "./rows.ts";
import { deliverJob, whyNotByHand } from "./rules.ts";
import type { DeliveryId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { attemptByHand } from "./attempt-by-hand.ts";

/** Failed deliveries of a webhook as they were read, in the order of their ids. None: there are no more. */
export interface FailedRange {
  /** Where it begins. */
  readonly after: string | null;
  readonly ids: readonly DeliveryId[];
}

/**
 * Asks for a stretch by hand. How far this has come is written with it, so what fails again is not asked for twice, however often the job
 * is cut off.
 */
export async function recoverDeliveries(
  tx: Tx,
  claim: Claim<"recover">,
  { after, ids }: FailedRange,
  leaseMs: number,
): Promise<"more" | "done"> {
  if (!(await renew(tx, claim, leaseMs))) return "done";
  const webhook = await tx.get(webhookById, [claim.key.webhook_id]);
  const last = ids.at(-1) ?? null;
  if (webhook !== undefined && webhook.recover_after !== null) {
    // It was asked for anew, from further back.
    if (webhook.recover_after !== after) return "more";
    const wish = await attemptByHand(tx);
    const found = await Promise.all(ids.map((id) => tx.get(deliveryById, [id])));
    for (const delivery of found) {
      if (delivery?.status !== "failed" || delivery.manual_at !== null) continue;
      if (whyNotByHand(delivery) === undefined) tx.update(deliveries, delivery, wish);
    }
    const recovering = tx.update(webhooks, webhook, { recover_after: last });
    if (last !== null) {
      await arm(tx, deliverJob(recovering, tx.now));
      return "more";
    }
  }
  await finish(tx, claim);
  return "done";
}
