import { finish } from "../queue/rows.ts";
import { laneFor } from "../queue/rules.ts";
import type { Claim } from "../queue/types.ts";
import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  type WebhookRow,
} from "./rows.ts";
import { isHandsTurn } from "./turn.ts";
import type { Tx } from "../store/transaction.ts";

/** When a webhook has something to be sent; Infinity: nothing is left. */
export async function nextTurnAt(tx: Tx, webhook: WebhookRow): Promise<number> {
  const [[next], [byHand]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(deliveriesByHand, [webhook.id], 1),
  ]);
  return Math.min(automaticAt(webhook, next), byHandAt(webhook, next, byHand, tx.now));
}

/** Gives the turn of a webhook back until `againAt`; for good when there is nothing left. */
export function giveBackWebhook(
  tx: Tx,
  claim: Claim,
  webhook: WebhookRow,
  againAt: number,
): Promise<void> {
  // A receiver that does badly has its place among the slow; the turn itself did not fail, and has nothing to recover from.
  return finish(tx, claim, { againAt, lane: laneFor(claim.lane, webhook.proven ? 0 : 1) });
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

/** What waits for automatic ones comes after them. */
function byHandAt(
  webhook: WebhookRow,
  head: DeliveryRow | undefined,
  byHand: DeliveryRow | undefined,
  now: number,
): number {
  return byHand !== undefined && isHandsTurn(webhook, head, byHand) ? now : Infinity;
}
