/**
 * Commits that got no answer, because the storage failed: they may be stored. Only this process
 * knows that it has not gone on, for example that it called no carrier.
 */
import type { Clock } from "../ports/index.ts";
import type { Claim } from "./jobs/job.ts";
import { renew } from "./jobs/lease.ts";
import { retry } from "./retry.ts";
import type { AnyTx } from "./jobs/rows.ts";

/**
 * The time after which a commit that got no answer has ended on the storage, in milliseconds. A
 * storage that lost the connection to this process may still be busy with it.
 */
const maxCommitMs = 1_000;

/** Like `retry`, for work that finds out whether a commit that got no answer is stored. */
export async function checkUnansweredCommit<T>(
  clock: Clock,
  abort: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  await clock.sleep(maxCommitMs, abort);
  return retry(clock, abort, work);
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
