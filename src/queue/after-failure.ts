/** What the dispatcher does after a job, or the commit of its lease, has failed. */
import type { Clock, Logger } from "../ports/index.ts";
import { background, type Store } from "../store/index.ts";
import { checkUnansweredCommit, retry } from "./retry.ts";
import type { Claim } from "./job.ts";
import { finish, nameOf, pauseAfter, renew, storedName } from "./rows.ts";
import { leaseMs } from "./take-job.ts";

interface Options {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Schedules a failed job again after a pause. Never rejects. */
export async function reschedule(
  { store, clock, logger }: Options,
  claim: Claim,
  error: unknown,
  stopping: AbortSignal,
): Promise<void> {
  const job = nameOf(storedName(claim));
  logger.error({ err: error, job }, "a job failed; retrying");
  const again = { againAt: clock.now() + pauseAfter(claim.failures), failed: true };
  try {
    // Mostly, the storage was away for a moment. Without this, the job would wait for its lease.
    await retry(clock, stopping, () =>
      store.commitUnscoped((tx) => finish(tx, claim, again), background),
    );
  } catch (unfinished) {
    logger.warn(
      { err: unfinished, job },
      "a failed job could not be rescheduled; it runs again when its lease expires",
    );
  }
}

/**
 * Whether a lease is stored, although the storage failed: the answer to the commit may have been
 * lost. No other engine runs the job before the lease expires, and then it could not know that the
 * carrier was not called. Never rejects.
 */
export async function isLeaseStored(
  { store, clock }: Options,
  claim: Claim,
  abort: AbortSignal,
): Promise<boolean> {
  try {
    return await checkUnansweredCommit(clock, abort, () =>
      store.commitUnscoped((tx) => renew(tx, claim, leaseMs), background),
    );
  } catch {
    return false;
  }
}
