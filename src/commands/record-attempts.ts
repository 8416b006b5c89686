import { renew } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { afterAttempt, afterAutomatic, type EndedAttempt } from "../domain/webhooks/progress.ts";
import { responseColumns } from "../domain/webhooks/response.ts";
import {
  deliveries,
  deliveryAttempts,
  deliveryById,
  type DeliveryRow,
  webhookById,
  type WebhookRow,
  webhooks,
} from "../domain/webhooks/rows.ts";
import type { DeliveryId, DrawId } from "../ids.ts";
import type { Seen } from "../ports/collection.ts";
import type { Scope } from "../scope.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf, appendEvent } from "./steps/append-event.ts";

export interface MadeAttempt extends EndedAttempt {
  readonly delivery_id: DeliveryId;
}

export interface RecordOptions {
  readonly scope: Scope;
  readonly drawId: DrawId;
  readonly leaseMs: number;
}

/**
 * Writes down attempts that were made, and what they make of their deliveries and their webhook; all that is gone meanwhile it leaves alone.
 * Answers whether the turn is still the claim's.
 */
export async function recordAttempts(
  tx: Tx,
  claim: Claim,
  made: readonly MadeAttempt[],
  { scope, drawId, leaseMs }: RecordOptions,
): Promise<boolean> {
  const { account_id, mode } = scope;
  const [isOurs, webhook, ...rows] = await Promise.all([
    renew(tx, claim, leaseMs),
    tx.get(webhookById, [account_id, mode, claim.key]),
    ...made.map(({ delivery_id }) => tx.get(deliveryById, [account_id, mode, delivery_id])),
  ]);
  const latest = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])));
  for (const attempt of made) {
    const delivery = latest.get(attempt.delivery_id);
    if (delivery !== undefined) latest.set(delivery.id, recordAttempt(tx, drawId, delivery, attempt));
  }
  if (webhook !== undefined) heed(tx, webhook, made, { scope, drawId });
  return isOurs;
}

function recordAttempt(tx: Tx, drawId: DrawId, delivery: Seen<DeliveryRow>, attempt: MadeAttempt): Seen<DeliveryRow> {
  const { account_id, mode, id: delivery_id } = delivery;
  const { manual, started_at, duration_ms, outcome } = attempt;
  const number = delivery.attempts + 1;
  tx.insert(deliveryAttempts, {
    account_id,
    mode,
    delivery_id,
    number,
    id: drawId("att"),
    manual,
    started_at,
    duration_ms,
    ...responseColumns(outcome, { isErased: delivery.body === null }),
  });
  return tx.update(deliveries, delivery, { attempts: number, ...afterAttempt(delivery, attempt) });
}

/** Attempts by hand say nothing about how the webhook fares by itself. */
function heed(
  tx: Tx,
  webhook: Seen<WebhookRow>,
  made: readonly MadeAttempt[],
  { scope, drawId }: Pick<RecordOptions, "scope" | "drawId">,
): void {
  let latest = webhook;
  for (const attempt of made.filter(({ manual }) => !manual)) {
    const changes = afterAutomatic(latest, attempt);
    if (changes !== undefined) latest = tx.update(webhooks, latest, changes);
  }
  if (webhook.status !== "enabled" || latest.status !== "disabled") return;
  const { id: webhook_id, url, disabled_reason } = latest;
  appendEvent(tx, actorOf(scope, drawId), "webhook.disabled", { webhook_id, url, reason: disabled_reason ?? "" }, {});
}
