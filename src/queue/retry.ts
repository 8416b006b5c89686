/**
 * Repeats commits while the storage is unavailable, and checks whether a commit that got no answer
 * is stored. If it is, only this process knows how far the work has come, for example that no
 * carrier was called.
 */
import { TidingsError, type ErrorCode, type Scope } from "../kernel/index.ts";
import type { Clock } from "../ports/index.ts";
import { background, type Store } from "../store/index.ts";
import type { FailureLog } from "./failure-log.ts";
import type { Claim, JobRun } from "./jobs/job.ts";
import { leaseMs, renew } from "./jobs/lease.ts";
import type { AnyTx } from "./jobs/rows.ts";

/** The first and the longest pause between tries, in milliseconds. The pauses double. */
const firstPauseMs = 100;
const maxPauseMs = 3_200;

const passing: ReadonlySet<ErrorCode> = new Set([
  "storage_unavailable",
  "storage_contended",
  "overloaded",
]);

/**
 * Whether a commit that met this error may succeed later. That includes errors that are not
 * `retryable` for a caller but that a person can end, such as a missing privilege. It does not
 * include damage, which nobody repairs while the storage is open.
 */
export function mayPass(error: unknown): error is TidingsError {
  return error instanceof TidingsError && passing.has(error.code);
}

/**
 * Retries `work` while the storage is unavailable, for `ms` or until the run is aborted. `ms` is by
 * default the length of a lease: after that, the job's lease has expired and the job runs again in
 * any case. Use it to store what only this process knows. If a carrier's answer is lost, for
 * example, its message becomes ambiguous, and its conversation waits until the lease expires.
 */
export async function retry<T>(
  clock: Clock,
  run: Pick<JobRun, "abort" | "stopping">,
  work: () => Promise<T>,
  ms = leaseMs,
): Promise<T> {
  const end = clock.monotonic() + ms;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      const over = endOf(run, error);
      if (over.aborted || clock.monotonic() >= end) throw error;
      await clock.sleep(pause, over);
    }
  }
}

/**
 * How often the holder of a lease extends it while it repeats a commit, and to what length, in
 * milliseconds. The length is more than usual, because a commit can take half a minute to fail.
 */
const renewMs = leaseMs / 4;
const longLeaseMs = 3 * leaseMs;

/**
 * Like `retry`, but extends the job's lease, and goes on until the run is aborted or the lease is
 * lost. Use it to store what the next run of the job would have to pay for again. An outage can
 * last for hours, so it is logged meanwhile.
 */
export async function retryWhileLeased<T>(
  {
    store,
    clock,
    outages,
  }: { readonly store: Store; readonly clock: Clock; readonly outages: FailureLog },
  claim: Claim & Scope,
  run: Pick<JobRun, "abort" | "stopping">,
  work: () => Promise<T>,
): Promise<T> {
  const isLost = async (): Promise<boolean> => {
    try {
      const renewed = store.commit(claim, (tx) => renew(tx, claim, longLeaseMs), background);
      return (await renewed) === undefined;
    } catch {
      // While this fails, other engines can hardly take the lease.
      return false;
    }
  };
  for (;;) {
    try {
      const result = await retry(clock, run, work, renewMs);
      outages.worked();
      return result;
    } catch (error) {
      if (!mayPass(error) || endOf(run, error).aborted) throw error;
      outages.failed(error);
      if (await isLost()) throw error;
    }
  }
}

/** Returns the signal after which a commit that met the error is not repeated. */
function endOf(
  { abort, stopping }: Pick<JobRun, "abort" | "stopping">,
  { retryable }: TidingsError,
): AbortSignal {
  // Only a person can end an error that is not retryable, and a stop does not wait for a person.
  return retryable ? abort : stopping;
}

/**
 * The maximum time in which the storage ends a commit that got no answer, in milliseconds. The
 * storage may still work on the commit when the connection to this process is lost.
 */
const maxCommitMs = 1_000;

/** Like `retry`, for work that finds out whether a commit that got no answer is stored. */
export async function checkUnansweredCommit<T>(
  clock: Clock,
  run: Pick<JobRun, "abort" | "stopping">,
  work: () => Promise<T>,
): Promise<T> {
  await clock.sleep(maxCommitMs, run.abort);
  return retry(clock, run, work);
}

/**
 * Returns true if the claim of a stored step still has its lease, so that its job can go on. If the
 * lease was lost, for example because the process stalled, undoes the step and returns false.
 */
export async function keepOrUndo<T extends AnyTx>(
  tx: T,
  claim: Claim,
  undo: (tx: T) => Promise<void>,
): Promise<boolean> {
  if ((await renew(tx, claim)) !== undefined) return true;
  await undo(tx);
  return false;
}
