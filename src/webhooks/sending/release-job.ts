import { finish, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { automaticAt } from "../deliveries/delivery-rules.ts";
import {
  deliveriesDue,
  deliveriesInOrder,
  manualDeliveries,
  webhookById,
  type WebhookRow,
} from "../rows.ts";
import { allowedManual } from "./due-deliveries.ts";

/** Returns when the next delivery of a webhook is due, or Infinity when none is left. */
export async function nextDeliveryAt(tx: Tx, webhook: WebhookRow): Promise<number> {
  const [[next], [manual]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(manualDeliveries, [webhook.id], 1),
  ]);
  const isAllowed = allowedManual(webhook, next, manual) !== undefined;
  const automatic = next === undefined ? Infinity : automaticAt(webhook, next, tx.now);
  return Math.min(automatic, isAllowed ? tx.now : Infinity);
}

/** Releases the job of a webhook until `againAt`, or removes it when that is Infinity. */
export function releaseWebhookJob(
  tx: Tx,
  claim: Claim<"deliver">,
  webhook: WebhookRow,
  againAt: number,
): Promise<void> {
  // A failing receiver gets a slow lane. The job itself did not fail, so it has no back-off.
  return finish(tx, claim, { againAt, lane: { ...claim.lane, slow: !webhook.proven } });
}

/**
 * Releases the job of a webhook until its next delivery is due, or removes it when no delivery is
 * left. What makes a delivery due earlier, such as enabling the webhook, arms the job in the same
 * transaction. So the webhook need not be held: both transactions write or hold the job.
 */
export async function endWebhookDrain(tx: Tx, claim: Claim<"deliver">): Promise<void> {
  const webhook = await tx.get(webhookById, [claim.key.webhook_id]);
  if (webhook === undefined) return finish(tx, claim);
  return releaseWebhookJob(tx, claim, webhook, await nextDeliveryAt(tx, webhook));
}
