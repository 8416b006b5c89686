import type { Seen } from "../../ports/index.ts";
import { unscoped, type UnscopedTx } from "../../store/index.ts";
import type { JobClass } from "./classes.ts";
import { decodeJobKey, type AnyJobName } from "./job-kinds.ts";
import type { Claim } from "./job.ts";
import { classOf, decodeLane, readyLane, type Lane } from "./lane.ts";
import {
  findJob,
  inClass,
  jobByName,
  jobs,
  storedLane,
  type AnyTx,
  type JobRow,
  type StoredJobName,
} from "./rows.ts";

/**
 * The length of a lease, in milliseconds. It is longer than the deadline of any attempt. Handlers
 * extend their lease as they continue.
 */
export const leaseMs = 60_000;

/** A lease to be taken. */
interface LeaseOrder {
  /**
   * Random for each lease. A counter in the row would restart when the job is finished and armed
   * again, and a stalled holder of an old lease could pass for the new one.
   */
  readonly fence: number;
  readonly leasedBy: string | null;
}

/**
 * Leases a due job. Returns undefined if the job is gone or not due any more, usually because
 * another dispatcher was faster.
 */
export async function lease(
  tx: UnscopedTx,
  { kind, key }: StoredJobName,
  { fence, leasedBy }: LeaseOrder,
): Promise<Claim | undefined> {
  const job = await tx.get(jobByName, [kind, key], { lock: true, hold: "recent" });
  if (job === undefined || job.due_at > tx.now) return undefined;
  const due_at = tx.now + leaseMs;
  return claimOf(tx.update(jobs, job, { leased: true, fence, due_at, leased_by: leasedBy }));
}

/** The part of a claim that proves its lease. */
export type LeaseProof = AnyJobName & Pick<Claim, "fence">;

/**
 * Checks in this transaction that the claim still has the lease, and extends it to `ms` from now
 * when less than half of that is left. Returns when the lease ends, in milliseconds since the
 * epoch. Returns undefined if the lease was lost: another dispatcher has the job, or the job was
 * removed.
 */
export async function renew(
  within: AnyTx,
  claim: LeaseProof,
  ms = leaseMs,
): Promise<number | undefined> {
  const tx = unscoped(within);
  const job = await leasedJob(within, claim);
  if (job === undefined) return undefined;
  if (job.due_at - tx.now >= ms / 2) return job.due_at;
  const due_at = tx.now + ms;
  tx.update(jobs, job, { due_at });
  return due_at;
}

/**
 * The pause after the first failure of a job, in milliseconds. It doubles with each further
 * failure.
 */
const pauseMs = 1_000;
const maxPauseMs = 300_000;

/** The pause after a failure, in milliseconds. `earlier` is the number of failures before it. */
export function pauseAfter(earlier: number): number {
  return Math.min(pauseMs * 2 ** earlier, maxPauseMs);
}

export interface Finish {
  /** When to run the job again, in milliseconds since the epoch; absent when the work is done. */
  readonly againAt?: number;
  /**
   * What failed, if the run did. Only failures of the job itself are counted, not those of the
   * storage. Without a failure, the count starts again at 0.
   */
  readonly failure?: "job" | "storage" | undefined;
  /**
   * The lane in which the job waits; by default its usual lane, or its slow lane after a failure.
   */
  readonly lane?: Lane;
}

/**
 * Ends the lease, and removes the job unless it is due again: at `againAt`, or because it was armed
 * during the run. Does nothing if the lease was lost.
 */
export async function finish(
  within: AnyTx,
  claim: LeaseProof,
  { againAt, failure, lane }: Finish = {},
): Promise<void> {
  const tx = unscoped(within);
  const job = await leasedJob(within, claim);
  if (job === undefined) return;
  const due = Math.min(againAt ?? Infinity, job.rearmed_at ?? Infinity);
  if (due === Infinity) {
    tx.remove(jobs, job);
    return;
  }
  const next = lane ?? readyLane(decodeLane(job.lane), { slow: failure !== undefined });
  tx.update(jobs, job, {
    leased: false,
    due_at: due,
    rearmed_at: null,
    failures: failure === undefined ? 0 : job.failures + (failure === "job" ? 1 : 0),
    ...storedLane(next),
  });
}

/** Whether the job was armed again since it was claimed. False if the lease was lost. */
export async function isRearmed(within: AnyTx, claim: LeaseProof): Promise<boolean> {
  const job = await leasedJob(within, claim);
  return job !== undefined && job.rearmed_at !== null;
}

/** Returns the lane of the job. The job may have been moved since it was claimed. */
export async function currentLane(within: AnyTx, claim: Claim): Promise<Lane> {
  return decodeLane((await requireLeasedJob(within, claim)).lane);
}

/**
 * Moves the job to the lane of the class that `choose` returns; `choose` gets its current class.
 * Does nothing if the lease was lost. A job that was armed during its run keeps its class until its
 * next run. It may have been armed for the class that it already has, which `arm` does not write,
 * so this run cannot know that its work needs the class.
 */
export async function moveToClass(
  within: AnyTx,
  claim: LeaseProof,
  choose: (current: JobClass) => Promise<JobClass>,
): Promise<void> {
  const job = await leasedJob(within, claim);
  if (job === undefined || job.rearmed_at !== null) return;
  const change = inClass(job, await choose(classOf(decodeLane(job.lane))));
  if (Object.keys(change).length > 0) unscoped(within).update(jobs, job, change);
}

/** Moves the job to its usual lane, where it waits for no throttle. */
export async function moveToUsualLane(within: AnyTx, claim: Claim): Promise<void> {
  const job = await requireLeasedJob(within, claim);
  const usual = storedLane(readyLane(decodeLane(job.lane), { slow: false }));
  if (usual.lane !== job.lane) unscoped(within).update(jobs, job, usual);
}

/**
 * Returns the job of a claim.
 * @throws TypeError if the lease was lost
 */
async function requireLeasedJob(within: AnyTx, claim: Claim): Promise<Seen<JobRow>> {
  const job = await leasedJob(within, claim);
  if (job === undefined) {
    throw new TypeError("call `renew` in this transaction before you use the claim");
  }
  return job;
}

/** Returns the job of a claim, or undefined if the lease was lost. */
async function leasedJob(within: AnyTx, claim: LeaseProof): Promise<Seen<JobRow> | undefined> {
  const job = await findJob(within, claim, { hold: "recent" });
  return job?.leased === true && job.fence === claim.fence ? job : undefined;
}

function claimOf({ kind, key, account_id, mode, lane, fence, failures, due_at }: JobRow): Claim {
  // Only `arm` inserts jobs, from an order in which kind, key, account and lane belong together.
  return {
    kind,
    key: decodeJobKey(kind, key),
    account_id,
    mode,
    lane: decodeLane(lane),
    fence,
    leased_until: due_at,
    failures,
  } as Claim;
}
