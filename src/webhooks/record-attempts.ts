import { renew } from "../queue/rows.ts";
import type { Claim } from "../queue/types.ts";
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
import type { AttemptId, DeliveryId, DrawId } from "../kernel/ids.ts";
import type { Seen } from "../ports/collection.ts";
import type { Tx } from "../store/transaction.ts";
import { appendEvent } from "../events/append.ts";
import { giveBackWebhook, nextTurnAt } from "./drain-job.ts";

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
  /** Nothing else of the turn is under way, nor begins before this is answered: if nothing is due now, the turn can end with this. */
  readonly mayEnd: boolean;
}

/**
 * Writes down attempts that were made, and what they make of their deliveries and their webhook; all that is gone meanwhile it leaves alone.
 * Answers whether the turn goes on: false where it has ended with this, and where it is the claim's no more.
 */
export async function recordAttempts(
  tx: Tx,
  claim: Claim,
  made: readonly MadeAttempt[],
  { drawId, leaseMs, mayEnd }: RecordOptions,
): Promise<boolean> {
  const [isOurs, webhook, ...rows] = await Promise.all([
    renew(tx, claim, leaseMs),
    // Held where the turn may end: whoever enables it meanwhile has armed the job.
    tx.get(webhookById, [claim.key], { hold: mayEnd }),
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
  const heeded = webhook && heed(tx, webhook, fresh, drawId);
  if (!isOurs || !mayEnd || heeded === undefined) return isOurs;
  const againAt = await nextTurnAt(tx, heeded);
  if (againAt <= tx.now) return true;
  await giveBackWebhook(tx, claim, heeded, againAt);
  return false;
}

/** A commit whose answer was lost is made again. */
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
  appendEvent(
    tx,
    drawId,
    "webhook.disabled",
    { webhook_id, url, reason: disabled_reason ?? "" },
    {},
  );
  return latest;
}
