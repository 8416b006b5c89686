import { type Claim, finish } from "../queue/index.ts";
import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  type WebhookRow,
} from "./rows.ts";
import { isHandsTurn } from "./turn.ts";
import type { Tx } from "../store/index.ts";

/** When the next delivery of a webhook is due; Infinity when none is left. */
export async function nextDeliveryAt(tx: Tx, webhook: WebhookRow): Promise<number> {
  const [[next], [byHand]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(deliveriesByHand, [webhook.id], 1),
  ]);
  return Math.min(automaticAt(webhook, next), byHandAt(webhook, next, byHand, tx.now));
}

/** Gives a webhook's job back until `againAt`, or removes it when that is Infinity. */
export function giveBackWebhook(
  tx: Tx,
  claim: Claim<"deliver">,
  webhook: WebhookRow,
  againAt: number,
): Promise<void> {
  // A receiver that fails gets a slow lane. The job itself did not fail, so it has no back-off.
  return finish(tx, claim, { againAt, lane: { ...claim.lane, slow: !webhook.proven } });
}

function automaticAt({ status, paused_until }: WebhookRow, next: DeliveryRow | undefined): number {
  if (
    status !== "enabled" ||
    next?.next_attempt_at === undefined ||
    next.next_attempt_at === null
  ) {
    return Infinity;
  }
  return Math.max(next.next_attempt_at, paused_until ?? 0);
}

/** A delivery by hand that keeps the order waits for the automatic ones before it. */
function byHandAt(
  webhook: WebhookRow,
  head: DeliveryRow | undefined,
  byHand: DeliveryRow | undefined,
  now: number,
): number {
  return byHand !== undefined && isHandsTurn(webhook, head, byHand) ? now : Infinity;
}
