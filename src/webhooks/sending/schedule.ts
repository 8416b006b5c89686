/**
 * The retry schedule. The first attempt is made at once. After the k-th failed attempt, the next
 * one waits `delays[k - 1]` from the end of that attempt. Jitter makes the wait a little longer, so
 * that deliveries that failed together are not retried together. A `Retry-After` header can make it
 * longer still. All five attempts start within 24 hours of the first.
 *
 * The 24 hours count planned waits and attempt durations, not wall-clock time. Time in which
 * nothing could be sent (the process was down, the webhook was paused or disabled) does not count.
 * A clock that jumps neither ends a delivery early nor extends it.
 */
import { dayMs, hourMs, minuteMs } from "../../kernel/index.ts";
import type { HttpOutcome } from "../../ports/index.ts";

export const delays: readonly number[] = [minuteMs, 10 * minuteMs, 2 * hourMs, 16 * hourMs];

/**
 * The maximum number of automatic attempts of a delivery. With `fifo` ordering, a new URL gets one
 * more if it was set during the last one.
 */
export const maxAttempts = delays.length + 1;

/** The maximum jitter, as a fraction of the delay. */
export const maxJitter = 0.08;

/**
 * The longest deadline that can be configured. A longer duration means that the process or the
 * clock stopped during the attempt, so the excess does not count.
 */
export const maxAttemptMs = minuteMs;

/**
 * What the waits and attempts may use of the 24 hours. Ten minutes are reserved for delays of the
 * dispatcher.
 */
const budgetMs = 24 * hourMs - 10 * minuteMs;

/** The longest pause that a receiver can ask for. */
export const maxPauseMs: number = hourMs;

/** An automatic attempt that has ended. */
export interface PastAttempt {
  /**
   * The planned wait from the end of the previous attempt, in milliseconds. 0 for the first. Only
   * the time until then if a new URL ended the wait.
   */
  readonly waited_ms: number;
  readonly duration_ms: number;
}

/** The next attempt after one that failed. */
interface Retry {
  /** The planned wait, which becomes `waited_ms` of the next attempt. */
  readonly wait_ms: number;
  readonly next_attempt_at: number;
}

/**
 * Returns the next attempt of a delivery after one that failed. Undefined if there is no other.
 * @param history the automatic attempts that have ended, oldest first; includes the last one
 * @param outcome the outcome of the last attempt, not a success
 * @param jitter a random number from 0 to 1
 */
export function nextRetry(
  history: readonly PastAttempt[],
  outcome: HttpOutcome,
  now: number,
  jitter: number,
): Retry | undefined {
  const [delay, ...later] = delays.slice(history.length - 1);
  if (delay === undefined || isGone(outcome)) return undefined;
  const usedMs = sum(
    history.map((each) => each.waited_ms + Math.min(Math.max(0, each.duration_ms), maxAttemptMs)),
  );
  const neededMs = sum(later) + maxAttemptMs * later.length;
  const wantedMs = Math.max(delay, retryAfterOf(outcome, now)) + delay * maxJitter * jitter;
  const wait_ms = Math.max(delay, Math.min(Math.ceil(wantedMs), budgetMs - usedMs - neededMs));
  return { wait_ms, next_attempt_at: now + wait_ms };
}

/** Whether the status is 2xx. Redirects are not followed, so 3xx is a failure. */
export function isSuccess(outcome: HttpOutcome): boolean {
  return outcome.outcome === "answered" && outcome.status >= 200 && outcome.status < 300;
}

/** Whether the endpoint returned 410 Gone. The webhook is then disabled. */
export function isGone(outcome: HttpOutcome): boolean {
  return outcome.outcome === "answered" && outcome.status === 410;
}

/**
 * Returns for how many milliseconds the receiver asked for no requests, or 0 when it did not ask.
 */
export function pauseMsOf(outcome: HttpOutcome, now: number): number {
  const mayAsk =
    outcome.outcome === "answered" && (outcome.status === 429 || outcome.status === 503);
  return mayAsk ? Math.min(retryAfterOf(outcome, now), maxPauseMs) : 0;
}

function retryAfterOf(outcome: HttpOutcome, now: number): number {
  return outcome.outcome === "answered"
    ? (retryAfterMs(outcome.headers["retry-after"], now) ?? 0)
    : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** The longest wait that is accepted. Larger values are reduced to it. */
export const maxRetryAfterMs = dayMs;

/**
 * The start of the three date forms of RFC 9110, 5.6.7. `Date.parse` reads all of them, but also
 * accepts other strings.
 */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * Parses a `Retry-After` header (RFC 9110, 10.2.3) and returns the wait in milliseconds. The header
 * contains seconds or a date. Fractions of a second are rounded up. A past date returns 0. An
 * invalid value, such as a negative number or a list, returns undefined.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d+(?:\.\d*)?$/.test(value)) {
    return Math.min(Math.ceil(Number(value)) * 1_000, maxRetryAfterMs);
  }
  if (!httpDate.test(value)) return undefined;
  // The asctime form names no time zone. It means GMT.
  const date = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), maxRetryAfterMs);
}
