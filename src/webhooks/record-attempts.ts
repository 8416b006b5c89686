import { webhookDisabled } from "./events.ts";
import { type Claim, renew } from "../queue/index.ts";
import { afterAttempt, afterAutomatic, type EndedAttempt } from "./progress.ts";
import { responseColumns } from "./response.ts";
import {
  deliveries,
  deliveryAttemptByNumber,
  deliveryAttempts,
  deliveryById,
  type DeliveryRow,
  webhookById,
  type WebhookRow,
  webhooks,
} from "./rows.ts";
import type { AttemptId, DeliveryId, DrawId } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { giveBackWebhook, nextDeliveryAt } from "./drain-job.ts";

export interface MadeAttempt extends EndedAttempt {
  readonly id: AttemptId;
  readonly delivery_id: DeliveryId;
  /** How many attempts were written down when this one began. */
  readonly attempts: number;
  /** The body that it was sent with. */
  readonly sent: string | null;
}

export interface RecordOptions {
  readonly drawId: DrawId;
  readonly leaseMs: number;
  /** No other attempt is under way or begins before this commits: when nothing is due, the drain ends with this transaction. */
  readonly mayEnd: boolean;
}

/**
 * Records attempts and their effect on their deliveries and their webhook. Deliveries and webhooks that were removed meanwhile
 * are skipped. Returns whether the drain goes on: false when it ended with this transaction, or when the lease was lost.
 */
export async function recordAttempts(
  tx: Tx,
  claim: Claim<"deliver">,
  made: readonly MadeAttempt[],
  { drawId, leaseMs, mayEnd }: RecordOptions,
): Promise<boolean> {
  const [isOurs, webhook, ...rows] = await Promise.all([
    renew(tx, claim, leaseMs),
    // Held when the drain may end: a transaction that enables it meanwhile has armed the job.
    tx.get(webhookById, [claim.key.webhook_id], { hold: mayEnd }),
    ...made.map(({ delivery_id }) => tx.get(deliveryById, [delivery_id])),
  ]);
  const latest = new Map(
    rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])),
  );
  const written = await Promise.all(
    made.map((attempt) => isWritten(tx, latest.get(attempt.delivery_id), attempt)),
  );
  const fresh = made.filter((_, i) => written[i] !== true);
  for (const attempt of fresh) {
    const delivery = latest.get(attempt.delivery_id);
    if (delivery !== undefined) latest.set(delivery.id, recordAttempt(tx, delivery, attempt));
  }
  const after = webhook && heed(tx, webhook, fresh, drawId);
  if (!isOurs || !mayEnd || after === undefined) return isOurs;
  const againAt = await nextDeliveryAt(tx, after);
  if (againAt <= tx.now) return true;
  await giveBackWebhook(tx, claim, after, againAt);
  return false;
}

/** Whether an earlier commit of this attempt succeeded and only its answer was lost. */
async function isWritten(
  tx: Tx,
  delivery: DeliveryRow | undefined,
  { id, attempts }: MadeAttempt,
): Promise<boolean> {
  if (delivery === undefined || delivery.attempts === attempts) return false;
  const { id: delivery_id } = delivery;
  const numbers = Array.from({ length: delivery.attempts - attempts }, (_, i) => attempts + 1 + i);
  const since = await Promise.all(
    numbers.map((number) => tx.get(deliveryAttemptByNumber, [delivery_id, number])),
  );
  return since.some((row) => row?.id === id);
}

function recordAttempt(
  tx: Tx,
  delivery: Seen<DeliveryRow>,
  attempt: MadeAttempt,
): Seen<DeliveryRow> {
  const { id: delivery_id } = delivery;
  const { id, sent, asked_at, started_at, duration_ms, outcome } = attempt;
  const number = delivery.attempts + 1;
  tx.insert(deliveryAttempts, {
    delivery_id,
    number,
    id,
    manual: asked_at !== null,
    started_at,
    duration_ms,
    ...responseColumns(outcome, { isWithdrawn: delivery.body !== sent }),
  });
  return tx.update(deliveries, delivery, { attempts: number, ...afterAttempt(delivery, attempt) });
}

/** Attempts by hand say nothing about how the webhook fares by itself. */
function heed(
  tx: Tx,
  webhook: Seen<WebhookRow>,
  made: readonly MadeAttempt[],
  drawId: DrawId,
): WebhookRow {
  let latest = webhook;
  for (const attempt of made.filter(({ asked_at }) => asked_at === null)) {
    const changes = afterAutomatic(latest, attempt);
    if (changes !== undefined) latest = tx.update(webhooks, latest, changes);
  }
  if (webhook.status !== "enabled" || latest.status !== "disabled") return latest;
  latest = tx.update(webhooks, latest, { updated_at: tx.now });
  const { id: webhook_id, url, disabled_reason } = latest;
  appendEvent(tx, drawId, webhookDisabled, { webhook_id, url, reason: disabled_reason ?? "" }, {});
  return latest;
}
