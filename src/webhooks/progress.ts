/** Computes how an attempt changes its delivery and its webhook. */
import { dayMs } from "../kernel/index.ts";
import type { HttpOutcome } from "../ports/index.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import type { FailingStreak } from "./types.ts";
import { isGone, isSuccess, nextAttempt, pauseMsOf } from "./schedule.ts";

/** An attempt that has ended. */
export interface EndedAttempt {
  /** The `manual_at` of the delivery when the attempt began. Null for an automatic attempt. */
  readonly requested_at: number | null;
  /** The number of automatic attempts of the delivery when this attempt began. */
  readonly automatic_before: number;
  readonly started_at: number;
  readonly ended_at: number;
  readonly duration_ms: number;
  readonly outcome: HttpOutcome;
  /** A random number from 0 to 1. */
  readonly jitter: number;
}

type Progress<R> = Readonly<Partial<R>>;

/**
 * Returns the changes of a delivery after an attempt. A success always ends the delivery. A failed
 * automatic attempt is ignored when another one was recorded since it began, as after a lost lease,
 * or when the delivery has already ended.
 */
export function afterAttempt(delivery: DeliveryRow, attempt: EndedAttempt): Progress<DeliveryRow> {
  const { requested_at, automatic_before, ended_at, duration_ms, outcome, jitter } = attempt;
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
      manual_at: isManual ? pendingRequest : null,
    };
  }
  // A test delivery has manual attempts only, so no retry follows.
  const isOver = status === "pending" && next_attempt_at === null && pendingRequest === null;
  if (!isCounted) {
    return isOver ? { status: "failed", manual_at: null } : { manual_at: pendingRequest };
  }
  const next = nextAttempt(newHistory, outcome, ended_at, jitter);
  if (next.status !== "pending") {
    return { status: next.status, history: newHistory, next_attempt_at: null };
  }
  return { history: newHistory, wait_ms: next.wait_ms, next_attempt_at: next.next_attempt_at };
}

/**
 * Returns the changes of a webhook after an automatic attempt, or undefined when nothing changes.
 */
export function afterAutomatic(
  webhook: WebhookRow,
  { outcome, ended_at }: EndedAttempt,
): Progress<WebhookRow> | undefined {
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
    : { ...failing, paused_until: Math.max(webhook.paused_until ?? 0, ended_at + pause) };
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
