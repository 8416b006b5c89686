import type { Admission } from "../ports/index.ts";

/**
 * An exact rate limit: the times of the last admissions. A request is admitted when fewer than `limit` were admitted in
 * the `window` before it, so no window, wherever it starts, admits more. A refusal uses no quota.
 */
export interface SlidingLog {
  readonly limit: number;
  /** In milliseconds. */
  readonly window: number;
  /** A ring: `count` admissions in ascending order, the oldest at `oldest`. It grows with them, up to the limit. */
  times: Float64Array;
  oldest: number;
  count: number;
  /** The clock when it was last looked at, and what is added to it so that it never runs back. */
  seen: number;
  ahead: number;
}

/** A key that asks now and then needs no more. */
const fewest = 16;

export function slidingLog(limit: number, window: number): SlidingLog {
  return {
    limit,
    window,
    times: new Float64Array(Math.min(limit, fewest)),
    oldest: 0,
    count: 0,
    seen: Number.NEGATIVE_INFINITY,
    ahead: 0,
  };
}

/** Asks for one admission at `now`, in milliseconds. */
export function admit(log: SlidingLog, now: number): Admission {
  const time = steady(log, now);
  forget(log, time);
  const admitted = log.count < log.limit;
  if (admitted) {
    if (log.count === log.times.length) grow(log);
    log.times[(log.oldest + log.count) % log.times.length] = time;
    log.count += 1;
  }
  const remaining = log.limit - log.count;
  return {
    admitted,
    limit: log.limit,
    remaining,
    reset_ms: entry(log, log.count - 1) + log.window - time,
    retry_after_ms: remaining > 0 ? 0 : entry(log, 0) + log.window - time,
  };
}

/**
 * A clock that steps back would stretch the window by the step. Its steps are added up instead: time stands still for
 * the step and goes on from there, so the limit holds and nobody waits longer than a window.
 */
function steady(log: SlidingLog, now: number): number {
  if (now < log.seen) log.ahead += log.seen - now;
  log.seen = now;
  return now + log.ahead;
}

function forget(log: SlidingLog, time: number): void {
  while (log.count > 0 && entry(log, 0) <= time - log.window) {
    log.oldest = (log.oldest + 1) % log.times.length;
    log.count -= 1;
  }
}

function entry(log: SlidingLog, place: number): number {
  return log.times[(log.oldest + place) % log.times.length] ?? Number.NEGATIVE_INFINITY;
}

function grow(log: SlidingLog): void {
  const { times, oldest, limit } = log;
  const larger = new Float64Array(Math.min(times.length * 2, limit));
  larger.set(times.subarray(oldest));
  larger.set(times.subarray(0, oldest), times.length - oldest);
  log.times = larger;
  log.oldest = 0;
}
