import { finish } from "../domain/jobs/rows.ts";
import { laneFor } from "../domain/jobs/rules.ts";
import type { Claim } from "../domain/jobs/types.ts";
import {
  deliveriesByHand,
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  webhookById,
  type WebhookRow,
} from "../domain/webhooks/rows.ts";
import { isHandsTurn } from "../domain/webhooks/turn.ts";
import type { Scope } from "../scope.ts";
import type { Tx } from "../transactions/transaction.ts";

/** Gives the turn of a webhook back until its next delivery is due; for good when none is. Of a webhook that is gone there is none. */
export async function endDeliveryTurn(tx: Tx, claim: Claim, { account_id, mode }: Scope): Promise<void> {
  // Held: whoever enables it meanwhile has armed the job.
  const webhook = await tx.get(webhookById, [account_id, mode, claim.key], { hold: true });
  if (webhook === undefined) return finish(tx, claim);
  const [[next], [byHand]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(deliveriesByHand, [webhook.id], 1),
  ]);
  const againAt = Math.min(automaticAt(webhook, next), byHandAt(webhook, next, byHand, tx.now));
  if (againAt === Infinity) return finish(tx, claim);
  // A receiver that does badly has its place among the slow; the turn itself did not fail, and has nothing to recover from.
  return finish(tx, claim, { againAt, lane: laneFor(claim.lane, webhook.proven ? 0 : 1) });
}

function automaticAt({ status, paused_until }: WebhookRow, next: DeliveryRow | undefined): number {
  if (status !== "enabled" || next?.next_attempt_at === undefined || next.next_attempt_at === null) return Infinity;
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
