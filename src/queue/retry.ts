import { TidingsError } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";

/** Pauses between two tries, in milliseconds: about six seconds in all, well within a lease. */
const pauses = [100, 200, 400, 800, 1_600, 3_200] as const;

/**
 * Repeats `work` while the storage is briefly unavailable, until `abort`. For what cannot be asked for again: a carrier's
 * answer that is lost makes its message ambiguous.
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
