/** Commits that are repeated while the storage is unavailable. */
import { TidingsError } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";
import { leaseMs } from "./jobs/lease.ts";

/** The first and the longest pause between tries, in milliseconds. The pauses double. */
const firstPauseMs = 100;
const maxPauseMs = 3_200;

/**
 * Retries `work` while the storage is unavailable, until `abort`, or until the job's lease must
 * have expired: then the job runs again in any case. Use it to store what only this process knows:
 * if a carrier's answer is lost, its message becomes ambiguous, and its conversation waits for the
 * lease.
 */
export async function retry<T>(
  clock: Clock,
  abort: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const end = clock.monotonic() + leaseMs;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error) || abort.aborted || clock.monotonic() >= end) throw error;
    }
    await clock.sleep(pause, abort);
  }
}

/**
 * Whether a later try may succeed. A person can also end what no retry solves for a caller, such as
 * a missing privilege.
 */
function mayPass(error: unknown): boolean {
  return error instanceof TidingsError && (error.retryable || error.code === "storage_unavailable");
}
