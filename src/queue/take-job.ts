import type { Claim, JobHandler, JobHandlers, JobRun } from "./job.ts";
import type { JobKind } from "./job-kinds.ts";
import { type Random, StorageConflict } from "../ports/index.ts";
import { isStorageFailure, type UnscopedTx } from "../store/index.ts";
import { lease, type StoredJobName } from "./rows.ts";

/**
 * The length of a lease, in milliseconds. It is longer than the deadline of any attempt. Handlers
 * extend their lease as they continue.
 */
export const leaseMs = 60_000;

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
  readonly rest?: ((run: JobRun) => Promise<void>) | undefined;
}

/**
 * Leases a due job, and does its first step in the same transaction if it has one and `begins` is
 * true. Returns undefined if the job is gone or not due any more.
 */
export async function takeJob(
  tx: UnscopedTx,
  job: StoredJobName,
  { random, handlers, leasedBy }: TakeJobOptions,
  { begins }: { readonly begins: boolean } = { begins: true },
): Promise<TakenJob | undefined> {
  const fence = Buffer.from(random.bytes(6)).readUIntBE(0, 6);
  const claim = await lease(tx, job, { leaseMs, fence, leasedBy: leasedBy() });
  if (claim === undefined) return undefined;
  const begin = begins ? beginOf(handlers, claim) : undefined;
  if (begin === undefined) return { claim };
  try {
    return { claim, rest: await tx.attempt(begin) };
  } catch (error) {
    // The transaction runs again, or fails. Other errors are those of the job.
    if (error instanceof StorageConflict || isStorageFailure(error)) throw error;
    return { claim };
  }
}

/** Calls the handler of a job, or its rest if its first step is done. */
export function runJob(
  handlers: JobHandlers,
  { claim, rest }: TakenJob,
  run: JobRun,
): Promise<void> {
  return rest === undefined ? handle(handlers, claim, run) : rest(run);
}

/** Returns the first step of a job if it can share the transaction that leases the job. */
function beginOf<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
): ((tx: UnscopedTx) => Promise<(run: JobRun) => Promise<void>>) | undefined {
  const { begin }: JobHandler<K> = handlers[claim.kind];
  const { account_id, mode } = claim;
  if (begin === undefined || account_id === null || mode === null) return undefined;
  return (tx) => begin(tx.in({ account_id, mode }), claim);
}

function handle<K extends JobKind>(
  handlers: JobHandlers,
  claim: Claim<K>,
  run: JobRun,
): Promise<void> {
  const handler: JobHandler<K> = handlers[claim.kind];
  return handler(claim, run);
}
