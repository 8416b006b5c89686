/**
 * The pause after the first failure of a job, in milliseconds. It doubles with each further
 * failure.
 */
const pauseMs = 1_000;
const maxPauseMs = 300_000;

/** The pause after a failure, in milliseconds. `earlier` is the number of failures before it. */
export function pauseAfter(earlier: number): number {
  return Math.min(pauseMs * 2 ** earlier, maxPauseMs);
}
