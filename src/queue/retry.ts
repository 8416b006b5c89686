/** Commits that are repeated while the storage is unavailable. */
import { TidingsError } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";

/** Pauses between tries, in milliseconds: about six seconds in total, well within a lease. */
const pauses = [100, 200, 400, 800, 1_600, 3_200] as const;

/**
 * Retries `work` for a few seconds while the storage is unavailable, until `abort`. Use it to store
 * what only this process knows: if a carrier's answer is lost, its message becomes ambiguous.
 */
export async function retry<T>(
  clock: Clock,
  abort: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TidingsError) || !error.retryable || abort.aborted) throw error;
      await clock.sleep(pause, abort);
    }
  }
  return work();
}
