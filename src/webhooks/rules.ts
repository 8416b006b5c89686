/**
 * Decides from the outcomes of automatic attempts when a webhook is disabled, and when its receiver
 * gets no requests for a while. A 410 disables a webhook at once. Other failures disable it when
 * they have lasted long enough.
 */
import { dayMs } from "../kernel/index.ts";
import type { HttpOutcome } from "../ports/index.ts";
import type { WebhookRow } from "./rows.ts";
import { isGone, isSuccess, maxPauseMs, pauseMsOf } from "./sending/schedule.ts";
import type { FailingStreak } from "./types.ts";

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
