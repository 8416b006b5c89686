/**
 * When a delivery is tried again. The first attempt is made at once; after the k-th has failed the next waits `delays[k - 1]` from its
 * end, a little longer by chance so that what failed together doesn't come back together, and longer still when the receiver asks for
 * it (`Retry-After`). All five start within a day of the first.
 *
 * The day is counted as the waits that were planned and the time that attempts took, not by the clock. So time in which nothing could
 * be sent (the process was down, the endpoint paused or disabled) is no part of it, and a clock that jumps neither ends a delivery early
 * nor stretches it.
 */
import type { HttpOutcome } from "../ports/index.ts";
import { retryAfterMs } from "./retry-after.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const delays: readonly number[] = [minuteMs, 10 * minuteMs, 2 * hourMs, 16 * hourMs];

/** Automatic attempts of a delivery. */
export const mostAttempts = delays.length + 1;

/** How much longer than its delay a wait may be by chance. */
export const mostJitter = 0.08;

/** The longest deadline that can be set. An attempt that took longer was not being made all that time. */
export const longestAttemptMs = minuteMs;

/** What is left to waits and attempts of the 24 hours; ten minutes are for the dispatcher's own lateness. */
const budgetMs = 24 * hourMs - 10 * minuteMs;

/** The longest that an endpoint is paused for because it asked. */
export const longestPauseMs = hourMs;

/** An automatic attempt that has ended. */
export interface PastAttempt {
  /** From the end of the one before to when this one was due; 0 for the first. */
  readonly waited_ms: number;
  readonly duration_ms: number;
}

/** What becomes of a delivery after an attempt. `wait_ms` is for the next one's `waited_ms`. */
export type Next =
  | { readonly status: "succeeded" }
  | { readonly status: "failed" }
  | { readonly status: "pending"; readonly wait_ms: number; readonly next_attempt_at: number };

/**
 * @param history the automatic attempts so far, the one that has just ended included, oldest first; at least one
 * @param outcome what came of that one
 * @param jitter drawn, 0 to 1
 */
export function nextAttempt(
  history: readonly PastAttempt[],
  outcome: HttpOutcome,
  now: number,
  jitter: number,
): Next {
  if (isSuccess(outcome)) return { status: "succeeded" };
  const [delay, ...later] = delays.slice(history.length - 1);
  if (delay === undefined || isGone(outcome)) return { status: "failed" };
  const used = sum(
    history.map(
      (each) => each.waited_ms + Math.min(Math.max(0, each.duration_ms), longestAttemptMs),
    ),
  );
  const needed = sum(later) + longestAttemptMs * later.length;
  const wished = Math.max(delay, retryAfterOf(outcome, now)) + delay * mostJitter * jitter;
  const wait_ms = Math.max(delay, Math.min(Math.ceil(wished), budgetMs - used - needed));
  return { status: "pending", wait_ms, next_attempt_at: now + wait_ms };
}

/** 2xx, and no other: a redirect that is not followed delivers nothing. */
export function isSuccess(outcome: HttpOutcome): boolean {
  return outcome.outcome === "answered" && outcome.status >= 200 && outcome.status < 300;
}

/** The receiver says that it is gone for good: its endpoint is disabled. */
export function isGone(outcome: HttpOutcome): boolean {
  return outcome.outcome === "answered" && outcome.status === 410;
}

/** For how long an endpoint that asked for a rest is left alone, in milliseconds; 0: it didn't ask. */
export function pauseOf(outcome: HttpOutcome, now: number): number {
  const mayAsk =
    outcome.outcome === "answered" && (outcome.status === 429 || outcome.status === 503);
  return mayAsk ? Math.min(retryAfterOf(outcome, now), longestPauseMs) : 0;
}

function retryAfterOf(outcome: HttpOutcome, now: number): number {
  return outcome.outcome === "answered"
    ? (retryAfterMs(outcome.headers["retry-after"], now) ?? 0)
    : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
