/** Whether something that is limited may happen now, and the times to store then. */
type TimedAdmission =
  | { readonly admitted: true; readonly times: readonly number[] }
  | { readonly admitted: false; readonly retryAfterMs: number };

interface WindowLimit {
  readonly max: number;
  readonly windowMs: number;
}

/**
 * Decides whether something that happened at these times, oldest first, may happen once more. The
 * limit is exact: no span of `windowMs` contains more than `max`.
 */
export function admitOneMore(
  times: readonly number[],
  { max, windowMs }: WindowLimit,
  now: number,
): TimedAdmission {
  const recent = withinWindow(times, windowMs, now);
  const first = recent.at(-max);
  return first === undefined
    ? { admitted: true, times: [...recent, now] }
    : { admitted: false, retryAfterMs: first + windowMs - now };
}

/**
 * Returns the times in the last `windowMs` milliseconds. Times in the future are left out: the
 * clock was set back, and their real age is unknown.
 */
export function withinWindow(
  times: readonly number[],
  windowMs: number,
  now: number,
): readonly number[] {
  return times.filter((at) => at > now - windowMs && at <= now);
}
