/** Commits that are repeated while the storage is unavailable. */
import { TidingsError, type ErrorCode } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";
import type { JobRun } from "./jobs/job.ts";
import { leaseMs } from "./jobs/lease.ts";

/** The first and the longest pause between tries, in milliseconds. The pauses double. */
const firstPauseMs = 100;
const maxPauseMs = 3_200;

const passing: ReadonlySet<ErrorCode> = new Set([
  "storage_unavailable",
  "storage_contended",
  "overloaded",
]);

/**
 * Whether a later try of a commit may not meet the error again. A person can also end what no retry
 * solves for a caller, such as a missing privilege. Nobody repairs a storage while it is open.
 */
export function mayPass(error: unknown): error is TidingsError {
  return error instanceof TidingsError && passing.has(error.code);
}

/**
 * Retries `work` while the storage is unavailable, until the run is aborted, or until the job's
 * lease must have expired: then the job runs again in any case. Use it to store what only this
 * process knows: if a carrier's answer is lost, its message becomes ambiguous, and its conversation
 * waits for the lease.
 */
export async function retry<T>(
  clock: Clock,
  { abort, stopping }: Pick<JobRun, "abort" | "stopping">,
  work: () => Promise<T>,
): Promise<T> {
  const end = clock.monotonic() + leaseMs;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
    let over: AbortSignal;
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      // A stop does not wait for a person.
      over = error.retryable ? abort : stopping;
      if (over.aborted || clock.monotonic() >= end) throw error;
    }
    await clock.sleep(pause, over);
  }
}
