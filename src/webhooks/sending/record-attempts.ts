import { appendEvent } from "../../events/index.ts";
import type { AttemptId, DeliveryId } from "../../kernel/index.ts";
import type { HttpOutcome, Seen } from "../../ports/index.ts";
import { arm, renew, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { webhookDisabled } from "../events.ts";
import { deliverJob } from "../job-orders.ts";
import {
  deliveries,
  deliveryAttemptByNumber,
  deliveryAttempts,
  deliveryById,
  webhookById,
  webhooks,
  type DeliveryRow,
  type WebhookRow,
} from "../rows.ts";
import { webhookAfterAttempt } from "../rules.ts";
import { releaseWebhookJob } from "./drain-job.ts";
import { nextDeliveryAt } from "./due-deliveries.ts";
import { missedDeadline } from "./post-delivery.ts";
import { responseColumns } from "./response-columns.ts";
import { isSuccess, maxAttempts, nextRetry, type PastAttempt } from "./schedule.ts";

/** An attempt that has ended and whose outcome only this process knows. */
export interface UnrecordedAttempt {
  readonly id: AttemptId;
  readonly delivery_id: DeliveryId;
  /** The URL that was called. The webhook may have a new one since. */
  readonly url: string;
  /** The `manual_at` of the delivery when the attempt began. Null for an automatic attempt. */
  readonly requested_at: number | null;
  /** The number of recorded attempts of the delivery when this one began. */
  readonly attempts_before: number;
  /** The number of automatic attempts of the delivery when this one began. */
  readonly automatic_before: number;
  readonly started_at: number;
  readonly ended_at: number;
  readonly duration_ms: number;
  readonly outcome: HttpOutcome;
  /** A random number from 0 to 1. */
  readonly jitter: number;
  /** The body that was sent. */
  readonly body: string | null;
}

interface RecordOptions {
  /**
   * Whether the drain may end with this transaction when nothing is due. True when no other attempt
   * is under way or begins before the commit.
   */
  readonly mayEnd: boolean;
}

/**
 * Records attempts and their effects on deliveries and on the webhook. Deliveries and webhooks that
 * were removed are skipped. Returns whether the drain continues: false when it ended with this
 * transaction, or when the lease was lost.
 */
export async function recordAttempts(
  tx: Tx,
  claim: Claim<"deliver">,
  attempts: readonly UnrecordedAttempt[],
  { mayEnd }: RecordOptions,
): Promise<boolean> {
  const [leasedUntil, webhook, ...rows] = await Promise.all([
    renew(tx, claim),
    tx.get(webhookById, [claim.key.webhook_id]),
    ...attempts.map(({ delivery_id }) => tx.get(deliveryById, [delivery_id])),
  ]);
  const hasLease = leasedUntil !== undefined;
  const latest = new Map(
    rows.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])),
  );
  const recorded = await Promise.all(
    attempts.map((attempt) => isRecorded(tx, latest.get(attempt.delivery_id), attempt)),
  );
  const newAttempts = attempts.filter((_, i) => recorded[i] !== true);
  for (const attempt of newAttempts) {
    const delivery = latest.get(attempt.delivery_id);
    if (delivery === undefined) continue;
    latest.set(delivery.id, recordAttempt(tx, delivery, attempt, webhook));
  }
  const after = webhook && applyToWebhook(tx, webhook, newAttempts);
  if (!hasLease && after !== undefined) await armAgain(tx, after);
  if (!hasLease || !mayEnd || after === undefined) return hasLease;
  const againAt = await nextDeliveryAt(tx, after);
  if (againAt <= tx.now) return true;
  await releaseWebhookJob(tx, claim, after, againAt);
  return false;
}

/**
 * Arms the job of a webhook after outcomes that were recorded without the lease. Its next holder
 * may have released it until the retry of a delivery that has succeeded now.
 */
async function armAgain(tx: Tx, webhook: WebhookRow): Promise<void> {
  const at = await nextDeliveryAt(tx, webhook);
  if (at < Infinity) await arm(tx, deliverJob(webhook, Math.max(at, tx.now)));
}

/**
 * Whether an earlier commit already recorded this attempt and only the result of that commit was
 * lost.
 */
async function isRecorded(
  tx: Tx,
  delivery: DeliveryRow | undefined,
  { id, attempts_before }: UnrecordedAttempt,
): Promise<boolean> {
  if (delivery === undefined || delivery.attempts === attempts_before) return false;
  const { id: delivery_id } = delivery;
  const numbers = Array.from(
    { length: delivery.attempts - attempts_before },
    (_, i) => attempts_before + 1 + i,
  );
  const laterAttempts = await Promise.all(
    numbers.map((number) => tx.get(deliveryAttemptByNumber, [delivery_id, number])),
  );
  return laterAttempts.some((row) => row?.id === id);
}

function recordAttempt(
  tx: Tx,
  delivery: Seen<DeliveryRow>,
  attempt: UnrecordedAttempt,
  webhook: WebhookRow | undefined,
): Seen<DeliveryRow> {
  const { id: delivery_id } = delivery;
  const { id, body, requested_at, started_at, duration_ms, outcome } = attempt;
  const number = delivery.attempts + 1;
  tx.insert(deliveryAttempts, {
    delivery_id,
    number,
    id,
    manual: requested_at !== null,
    started_at,
    duration_ms,
    ...responseColumns(outcome, { isErased: delivery.body !== body }),
  });
  return tx.update(deliveries, delivery, {
    attempts: number,
    ...deliveryAfterAttempt(delivery, attempt, webhook),
  });
}

/**
 * Returns the changes of a delivery after an attempt. After a success no retry follows. A failed
 * automatic attempt is ignored when another one was recorded since it began, as after a lost lease,
 * or when the delivery has already ended.
 */
function deliveryAfterAttempt(
  delivery: DeliveryRow,
  attempt: UnrecordedAttempt,
  webhook: WebhookRow | undefined,
): Partial<DeliveryRow> {
  const { requested_at, automatic_before, duration_ms, outcome } = attempt;
  const { status, history, next_attempt_at, wait_ms, manual_at } = delivery;
  if (status === "canceled") return { manual_at: null };
  const isManual = requested_at !== null;
  // A manual attempt that was requested after this one began stays requested.
  const pendingRequest = isManual && manual_at === requested_at ? null : manual_at;
  const isCounted = !isManual && next_attempt_at !== null && history.length === automatic_before;
  const newHistory = isCounted ? [...history, { waited_ms: wait_ms, duration_ms }] : history;
  if (isSuccess(outcome)) {
    return {
      status: "succeeded",
      history: newHistory,
      next_attempt_at: null,
      manual_at: pendingRequest,
    };
  }
  if (isCounted) return { history: newHistory, ...afterFailure(attempt, newHistory, webhook) };
  // A test delivery has manual attempts only, so no retry follows.
  const isOver = status === "pending" && next_attempt_at === null && pendingRequest === null;
  return isOver ? { status: "failed", manual_at: null } : { manual_at: pendingRequest };
}

/** Returns when a delivery is sent again after a failed automatic attempt, or that it failed. */
function afterFailure(
  { url, ended_at, outcome, jitter }: UnrecordedAttempt,
  history: readonly PastAttempt[],
  webhook: WebhookRow | undefined,
): Partial<DeliveryRow> {
  // The retry goes to the current URL. A 410 or a `Retry-After` of another URL does not concern it.
  const isOtherUrl = url !== webhook?.url;
  if (isOtherUrl && webhook?.ordering === "fifo" && history.length <= maxAttempts) {
    // All others wait for this delivery, so the current URL gets it at once, also if this attempt
    // was the last one. The schedule gets one attempt more at most.
    return { wait_ms: 0, next_attempt_at: ended_at };
  }
  const response = isOtherUrl ? missedDeadline : outcome;
  return (
    nextRetry(history, response, ended_at, jitter) ?? { status: "failed", next_attempt_at: null }
  );
}

/**
 * Applies automatic attempts to the webhook. Manual attempts do not change its state, and neither
 * do attempts at a URL that it no longer has.
 */
function applyToWebhook(
  tx: Tx,
  webhook: Seen<WebhookRow>,
  attempts: readonly UnrecordedAttempt[],
): WebhookRow {
  let latest = webhook;
  const applicable = attempts.filter(
    ({ requested_at, url }) => requested_at === null && url === webhook.url,
  );
  for (const attempt of applicable) {
    const changes = webhookAfterAttempt(latest, attempt);
    if (changes !== undefined) latest = tx.update(webhooks, latest, changes);
  }
  if (webhook.status !== "enabled" || latest.status !== "disabled") return latest;
  latest = tx.update(webhooks, latest, { updated_at: tx.now });
  const { id: webhook_id, url, disabled_reason } = latest;
  appendEvent(tx, webhookDisabled, { webhook_id, url, reason: disabled_reason ?? "" }, {});
  return latest;
}
