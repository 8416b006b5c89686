/** What the dispatcher does after a job, or the commit of its lease, has failed. */
import type { LogLimit } from "../../kernel/index.ts";
import type { Clock, Logger } from "../../ports/index.ts";
import {
  background,
  isContended,
  isStorageFailure,
  type Store,
  type UnscopedTx,
} from "../../store/index.ts";
import type { Claim, JobRun } from "../jobs/job.ts";
import { finish, type Finish } from "../jobs/lease.ts";
import { nameOf, storedName } from "../jobs/rows.ts";
import { pauseAfter } from "../pause-after.ts";
import { mayPass, retry } from "../retry.ts";
import { checkUnansweredCommit, keepOrUndo } from "../unanswered-commit.ts";
import { type TakenJob } from "./take-job.ts";

interface Options {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The pause of a job whose commit failed, in milliseconds. The storage may lease jobs for hours in
 * which they fail, for example because it can open no more connections, or because another
 * transaction has locked their rows. When that ends, they must not wait for long.
 */
const outagePauseMs = 2_000;

/**
 * Schedules a failed job again after a pause. A job that ended because of `abort` has not failed,
 * and is due again at once. Never rejects. In an outage every job can fail, so failed commits are
 * logged once a minute. `outages` counts them.
 */
export async function reschedule(
  { store, clock, logger, outages }: Options & { readonly outages: LogLimit },
  claim: Claim,
  error: unknown,
  { abort, stopping }: Pick<JobRun, "abort" | "stopping">,
): Promise<void> {
  const job = nameOf(storedName(claim));
  const failed = !abort.aborted || error !== abort.reason;
  const isOutage = isStorageFailure(error) || isContended(error);
  const noted = isOutage ? outages.note() : { count: 1 };
  if (failed && noted !== undefined) {
    logger.error({ err: error, job, failures: noted.count }, "a job failed; retrying");
  }
  const again = failed ? afterFailure(error, claim, clock.now()) : { againAt: clock.now() };
  try {
    // Most failures of the storage are short. Without a retry, the job would wait until its lease
    // ends.
    await retry(clock, { abort: stopping, stopping }, () =>
      store.commitUnscoped((tx) => finish(tx, claim, again), background),
    );
  } catch (unfinished) {
    if (noted === undefined) return;
    logger.warn(
      { err: unfinished, job },
      "a failed job could not be rescheduled; it runs again when its lease expires",
    );
  }
}

/** An error of the storage that may pass is no failure of the job. */
function afterFailure(error: unknown, { failures }: Claim, now: number): Finish {
  return mayPass(error)
    ? { againAt: now + outagePauseMs, failure: "storage" }
    : { againAt: now + pauseAfter(failures), failure: "job" };
}

/**
 * Whether a job is still leased, although the storage failed in the commit of the lease: the answer
 * to the commit may have been lost. No other engine runs the job before the lease expires. Undoes
 * the first step, which is stored with the lease, if the lease has been lost since. Never rejects.
 */
export async function isStillLeased(
  { store, clock }: Options,
  { claim, rest }: TakenJob,
  run: Pick<JobRun, "abort" | "stopping">,
): Promise<boolean> {
  const undo = async (tx: UnscopedTx): Promise<void> => rest?.undo(tx);
  try {
    return await checkUnansweredCommit(clock, run, () =>
      store.commitUnscoped((tx) => keepOrUndo(tx, claim, undo), background),
    );
  } catch {
    return false;
  }
}
