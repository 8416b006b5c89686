/**
 * Commits that got no answer because the storage failed. They may be stored all the same. Only this
 * process knows that it stopped there, for example that it called no carrier.
 */
import type { Clock } from "../ports/index.ts";
import type { Claim, JobRun } from "./jobs/job.ts";
import { renew } from "./jobs/lease.ts";
import type { AnyTx } from "./jobs/rows.ts";
import { retry } from "./retry.ts";

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
