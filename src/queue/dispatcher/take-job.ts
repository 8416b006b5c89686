import { StorageConflict, type Random } from "../../ports/index.ts";
import {
  background,
  isContended,
  isStorageFailure,
  type Store,
  type UnscopedTx,
} from "../../store/index.ts";
import { decodeJobKey, type JobKind } from "../jobs/job-kinds.ts";
import type { Claim, JobHandler, JobHandlers, JobRun, RestOfJob } from "../jobs/job.ts";
import { lease } from "../jobs/lease.ts";
import type { StoredJobName } from "../jobs/rows.ts";
import type { DueJob } from "./round-robin.ts";

/** What an engine leases and runs jobs with. */
export interface TakeJobOptions {
  readonly random: Random;
  readonly handlers: JobHandlers;
  /** The id of this engine for leases (`EngineRegister`). */
  readonly leasedBy: () => string | null;
}

/** A job that this engine has leased. */
export interface TakenJob {
  readonly claim: Claim;
  /** The rest of the job, if its first step was done when it was leased. */
  readonly rest?: RestOfJob<UnscopedTx> | undefined;
}

/** What came of leasing a job that a search has found. */
type Leasing =
  | { readonly outcome: "leased"; readonly taken: TakenJob }
  /** The job was removed, or is not due any more. */
  | { readonly outcome: "gone" }
  | {
      readonly outcome: "failed";
      readonly error: unknown;
      /** The job whose lease may be stored: the answer to its commit may have been lost. */
      readonly maybeStored: TakenJob | undefined;
    };

/**
 * Leases a job that a search has found. The same transaction does the first step of the job, unless
 * the step meets a conflict, as the lease itself does not. The lease must not wait for the end of
 * the conflict, since the row may belong to a long transaction of the host application. The job is
 * then leased alone, and its handler does the first step.
 */
export async function takeFoundJob(
  job: DueJob,
  options: TakeJobOptions & { readonly store: Store },
): Promise<Leasing> {
  let maybeStored: TakenJob | undefined;
  const commit = (
    take: (tx: UnscopedTx) => Promise<TakenJob | undefined>,
    failsOnConflict: boolean,
  ): Promise<TakenJob | undefined> =>
    options.store.commitUnscoped(async (tx) => (maybeStored = await take(tx)), {
      ...background,
      locks: true,
      failsOnConflict,
    });
  const withFirstStep = (tx: UnscopedTx): Promise<TakenJob | undefined> => {
    prefetchFirstStep(tx, job, options.handlers);
    return takeJob(tx, job, options);
  };
  try {
    const taken = await commit(withFirstStep, true).catch((error: unknown) => {
      if (!isContended(error)) throw error;
      return commit((tx) => leaseJob(tx, job, options), false);
    });
    return taken === undefined ? { outcome: "gone" } : { outcome: "leased", taken };
  } catch (error) {
    return {
      outcome: "failed",
      error,
      maybeStored: isStorageFailure(error) ? maybeStored : undefined,
    };
  }
}

/**
 * Leases a due job, and does its first step in the same transaction if it has one. Returns
 * undefined if the job is gone or not due any more.
 */
export async function takeJob(
  tx: UnscopedTx,
  job: StoredJobName,
  options: TakeJobOptions,
): Promise<TakenJob | undefined> {
  const leased = await leaseJob(tx, job, options);
  if (leased === undefined) return undefined;
  const firstStep = firstStepOf(options.handlers, leased.claim);
  if (firstStep === undefined) return leased;
  try {
    return { claim: leased.claim, rest: await tx.attempt(firstStep) };
  } catch (error) {
    // These make the transaction run again, or fail. Any other error is the job's own. Its handler
    // does the first step again and meets the error there.
    if (error instanceof StorageConflict || isStorageFailure(error)) throw error;
    return leased;
  }
}

/** Leases a due job. Returns undefined if the job is gone or not due any more. */
async function leaseJob(
  tx: UnscopedTx,
  job: StoredJobName,
  { random, leasedBy }: TakeJobOptions,
): Promise<TakenJob | undefined> {
  const fence = Buffer.from(random.bytes(6)).readUIntBE(0, 6);
  const claim = await lease(tx, job, { fence, leasedBy: leasedBy() });
  return claim && { claim };
}

/** Calls the handler of a job, or its rest if its first step is done. */
export function runJob(
  handlers: JobHandlers,
  { claim, rest }: TakenJob,
  run: JobRun,
): Promise<void> {
  return rest === undefined ? handle(handlers, claim, run) : rest.run(run);
}

/** Prefetches what the first step of a job reads first, so that it is read with the job itself. */
function prefetchFirstStep<K extends JobKind>(
  tx: UnscopedTx,
  { kind, key, account_id, mode }: DueJob & { readonly kind: K },
  handlers: JobHandlers,
): void {
  const { prefetch }: JobHandler<K> = handlers[kind];
  if (account_id === null || mode === null) return;
  prefetch?.(tx.in({ account_id, mode }), decodeJobKey(kind, key));
}

/** Returns the first step of a job if it can share the transaction that leases the job. */
function firstStepOf<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
): ((tx: UnscopedTx) => Promise<RestOfJob<UnscopedTx>>) | undefined {
  const { firstStep }: JobHandler<K> = handlers[claim.kind];
  const { account_id, mode } = claim;
  if (firstStep === undefined || account_id === null || mode === null) return undefined;
  const scope = { account_id, mode };
  return async (tx) => {
    const { run, undo } = await firstStep(tx.in(scope), claim);
    return { run, undo: (later) => undo(later.in(scope)) };
  };
}

function handle<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
  run: JobRun,
): Promise<void> {
  const handler: JobHandler<K> = handlers[claim.kind];
  return handler(claim, run);
}
