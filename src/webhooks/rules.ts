/**
 * Decides from the outcomes of automatic attempts when a webhook is disabled, and when its receiver
 * gets no requests for a while. A 410 disables a webhook at once. Other failures disable it when
 * they have lasted long enough.
 */
import type { JobOrder } from "../queue/index.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import type { DeliveryStatus } from "./deliveries/delivery-types.ts";
import type { FailingStreak, WebhookStatus } from "./types.ts";
import { dayMs } from "../kernel/index.ts";
import type { HttpOutcome } from "../ports/index.ts";
import { isGone, isSuccess, maxPauseMs, pauseMsOf } from "./sending/schedule.ts";

/** The maximum number of webhooks per account and mode. */
export const maxWebhooks = 1_000;

/** The number of random bytes in a secret. */
export const secretBytes = 32;

/** A delivery with this many attempts accepts no further manual attempts. */
export const maxManualAttempts = 100;
/**
 * How many attempts of a delivery are read at most. Automatic attempts may exceed the limit for
 * manual ones, but never this limit.
 */
export const maxAttemptsRead = 200;

/**
 * Returns the job that sends a webhook the deliveries that are due. Each webhook has one job, which
 * one engine runs at a time. An unproven webhook gets a slow lane, so that a receiver that hangs
 * does not delay other webhooks.
 */
export function deliverJob(
  { account_id, mode, id: webhook_id, proven }: WebhookKey & Pick<WebhookRow, "proven">,
  due_at: number,
): JobOrder<"deliver"> {
  const lane = { kind: "deliver", slow: !proven, webhook_id } as const;
  return { kind: "deliver", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Returns the job that schedules failed deliveries again, one chunk at a time. */
export function recoverJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"recover"> {
  const lane = { kind: "recover", slow: false } as const;
  return { kind: "recover", key: { webhook_id }, account_id, mode, lane, due_at };
}

/** Returns the job that removes the deliveries of a deleted webhook. */
export function discardJob(
  { account_id, mode, id: webhook_id }: WebhookKey,
  due_at: number,
): JobOrder<"discard"> {
  const lane = { kind: "discard", slow: false } as const;
  return { kind: "discard", key: { webhook_id }, account_id, mode, lane, due_at };
}

type WebhookKey = Pick<WebhookRow, "account_id" | "mode" | "id">;

/**
 * Returns the status that the API shows. A pending delivery is shown as `parked` while its webhook
 * is not enabled.
 */
export function shownStatus(status: DeliveryRow["status"], webhook: WebhookStatus): DeliveryStatus {
  return status === "pending" && webhook !== "enabled" ? "parked" : status;
}

/** Returns the stored statuses that the API shows as `wanted`, or all if it is undefined. */
export function storedStatuses(
  wanted: DeliveryStatus | undefined,
  webhook: WebhookStatus,
): DeliveryRow["status"][] {
  const stored = ["pending", "succeeded", "failed", "canceled"] as const;
  return stored.filter((status) => wanted === undefined || shownStatus(status, webhook) === wanted);
}

/**
 * Returns until when the receiver asked for no requests, or 0. If much more is left of the pause
 * than a receiver can ask for, the clock was set back, and the pause counts as over: its real end
 * is unknown, and the webhook would get nothing until the clock is where it was.
 */
export function pausedUntil(
  { paused_until }: Pick<WebhookRow, "paused_until">,
  now: number,
): number {
  const until = paused_until ?? 0;
  return until - now > 2 * maxPauseMs ? 0 : until;
}

/**
 * Returns the earliest time of a delivery's next automatic attempt, or Infinity if none is
 * scheduled.
 */
export function automaticAt(
  webhook: Pick<WebhookRow, "status" | "paused_until">,
  { next_attempt_at }: Pick<DeliveryRow, "next_attempt_at">,
  now: number,
): number {
  if (webhook.status !== "enabled" || next_attempt_at === null) return Infinity;
  return Math.max(next_attempt_at, pausedUntil(webhook, now));
}

/** Returns why a manual attempt is refused, or undefined when it is allowed. */
export function manualAttemptRefusal({
  body,
  attempts,
}: Pick<DeliveryRow, "body" | "attempts">): "erased" | "exhausted" | undefined {
  if (body === null) return "erased";
  return attempts >= maxManualAttempts ? "exhausted" : undefined;
}

interface AutomaticAttempt {
  readonly outcome: HttpOutcome;
  readonly ended_at: number;
}

/**
 * Returns the changes of a webhook after an automatic attempt, or undefined when nothing changes.
 */
export function webhookAfterAttempt(
  webhook: WebhookRow,
  { outcome, ended_at }: AutomaticAttempt,
): Partial<WebhookRow> | undefined {
  if (isSuccess(outcome)) {
    return webhook.proven && webhook.streak === null ? undefined : { proven: true, streak: null };
  }
  const streak = withFailure(webhook.streak, ended_at);
  const failing = { proven: false, streak };
  if (webhook.status !== "enabled") return failing;
  if (isGone(outcome)) return { ...failing, status: "disabled", disabled_reason: "gone" };
  if (shouldDisable(streak, ended_at)) {
    return { ...failing, status: "disabled", disabled_reason: "failing" };
  }
  const pause = pauseMsOf(outcome, ended_at);
  return pause === 0
    ? failing
    : { ...failing, paused_until: Math.max(pausedUntil(webhook, ended_at), ended_at + pause) };
}

/**
 * A webhook is disabled when all three limits are reached. One hour of many failures is not enough,
 * and neither are a few failures of rare events.
 */
const disableLimits = { after_ms: 5 * dayMs, attempts: 10, days: 3 } as const;

/** Returns the streak with one more failure. A clock that was set back adds no day. */
export function withFailure(streak: FailingStreak | null, now: number): FailingStreak {
  const day = Math.floor(now / dayMs);
  if (streak === null) return { since: now, attempts: 1, days: 1, last_day: day };
  const isNewDay = day > streak.last_day;
  return {
    since: streak.since,
    attempts: streak.attempts + 1,
    days: streak.days + (isNewDay ? 1 : 0),
    last_day: isNewDay ? day : streak.last_day,
  };
}

/** Whether the webhook must be disabled, given its streak. */
export function shouldDisable(streak: FailingStreak, now: number): boolean {
  const { after_ms, attempts, days } = disableLimits;
  return now - streak.since >= after_ms && streak.attempts >= attempts && streak.days >= days;
}
