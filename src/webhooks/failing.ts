/** Automatic attempts at an endpoint that failed since one of its attempts succeeded. */
export interface FailingStreak {
  /** When the first of them failed. */
  readonly since: number;
  readonly attempts: number;
  /** On how many days (UTC). */
  readonly days: number;
  /** The last of those days, counted from the epoch. */
  readonly last_day: number;
}

const dayMs = 86_400_000;

/** An endpoint is given up when all three are reached: a busy hour of failure, or a rare event that fails, is not enough. */
export const givingUp = { after_ms: 5 * dayMs, attempts: 10, days: 3 } as const;

/** The streak with one more failure; a success ends it (null). A clock that steps back makes no new days. */
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

/** Whether an endpoint with such a streak is to be disabled, at one more failure. */
export function isGivenUp(streak: FailingStreak, now: number): boolean {
  const { after_ms, attempts, days } = givingUp;
  return now - streak.since >= after_ms && streak.attempts >= attempts && streak.days >= days;
}
