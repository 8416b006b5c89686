/**
 * The life of a job. It is *armed* with a due time, *leased* by a dispatcher when that has come, and *finished*: gone, or due
 * again. A lease is a due time too: a leased job is due when its lease lapses, so that a crash needs no clean-up. What is armed
 * while it is leased stays due after it is finished.
 */
import {
  boolean,
  collection,
  integer,
  nullable,
  type Seen,
  text,
  time,
} from "../ports/collection.ts";
import type { Tx } from "../store/transaction.ts";
import { laneFor, type Road, roadOf } from "./rules.ts";
import type { Claim, JobName, JobOrder } from "./types.ts";

export interface JobRow extends JobOrder {
  /** Its lane's. */
  readonly road: Road;
  /** When it can be leased: when the work is due, or when the lease lapses. */
  readonly due_at: number;
  readonly leased: boolean;
  readonly fence: number;
  /** The earliest due time that it was armed with while it was leased. */
  readonly rearmed_at: number | null;
  readonly failures: number;
}

export const jobs = collection<JobRow>("jobs", {
  kind: text,
  key: text,
  account_id: nullable(text),
  mode: nullable(text),
  road: text,
  lane: text,
  due_at: time,
  leased: boolean,
  fence: integer,
  rearmed_at: nullable(time),
  failures: integer,
});
export const jobByName = jobs.key("kind", "key");
export const jobsByDueTime = jobs.index("by_due_at", ["road", "due_at"]);
export const jobsByLane = jobs.index("by_lane", ["road", "lane", "due_at"]);

/** Makes sure that the job runs at `due_at` or earlier, after this transaction. */
export async function arm(tx: Tx, order: JobOrder): Promise<void> {
  const job = await tx.get(jobByName, [order.kind, order.key], { hold: true });
  if (job === undefined) {
    armNew(tx, order);
  } else if (job.leased) {
    if (job.rearmed_at === null || job.rearmed_at > order.due_at) {
      tx.update(jobs, job, { rearmed_at: order.due_at });
    }
  } else if (job.due_at > order.due_at) {
    tx.update(jobs, job, { due_at: order.due_at });
  }
  // Otherwise it is due early enough. Holding it guards against a dispatcher that finishes it while this commits.
}

/** Arms a job whose key was drawn in this transaction: nobody can have armed it. */
export function armNew(tx: Tx, order: JobOrder): void {
  tx.insert(jobs, {
    ...order,
    ...standingIn(order.lane),
    leased: false,
    fence: 0,
    rearmed_at: null,
    failures: 0,
  });
}

/** Removes a job that nobody has to do any more. One that runs at this moment finds nothing to do. */
export async function disarm(tx: Tx, { kind, key }: JobName): Promise<void> {
  const job = await tx.get(jobByName, [kind, key]);
  if (job !== undefined) tx.remove(jobs, job);
}

/**
 * Takes a job that is due; `undefined` when another dispatcher was faster. `fence` is drawn for this lease: counted in the row, it
 * would begin anew when the job is done and armed again, and who stalled since its first life would hold its second.
 */
export async function lease(
  tx: Tx,
  { kind, key }: JobName,
  leaseMs: number,
  fence: number,
): Promise<Claim | undefined> {
  const job = await tx.get(jobByName, [kind, key], { claim: true });
  if (job === undefined || job.due_at > tx.now) return undefined;
  return claimOf(tx.update(jobs, job, { leased: true, fence, due_at: tx.now + leaseMs }));
}

/**
 * Proves in this transaction that the lease is still the claim's, and extends it when little of it is left.
 * Answers false when it is lost: whoever has the job now does the work.
 */
export async function renew(tx: Tx, claim: Claim, leaseMs: number): Promise<boolean> {
  const job = await held(tx, claim);
  if (job === undefined) return false;
  if (job.due_at - tx.now < leaseMs / 2) tx.update(jobs, job, { due_at: tx.now + leaseMs });
  return true;
}

export interface Finish {
  /** When there is more to do; nothing when the work is done. */
  readonly againAt?: number;
  readonly failed?: boolean;
  /** Where it waits; by default in its usual lane, or in the slow one beside it. */
  readonly lane?: string;
}

/** Gives the job back. Does nothing when the lease was lost. */
export async function finish(
  tx: Tx,
  claim: Claim,
  { againAt, failed = false, lane }: Finish = {},
): Promise<void> {
  const job = await held(tx, claim);
  if (job === undefined) return;
  const due = Math.min(againAt ?? Infinity, job.rearmed_at ?? Infinity);
  if (due === Infinity) {
    tx.remove(jobs, job);
    return;
  }
  const failures = failed ? job.failures + 1 : 0;
  const next = lane ?? laneFor(job.lane, failures);
  tx.update(jobs, job, {
    leased: false,
    due_at: due,
    rearmed_at: null,
    failures,
    ...standingIn(next),
  });
}

/** The lane that a job stands in, which another one may have been written to since it was claimed; moves it to `lane` where one is given. */
export async function inLane(tx: Tx, claim: Claim, lane?: string): Promise<string> {
  const job = await held(tx, claim);
  if (job === undefined) throw new TypeError("the claim was renewed in this transaction");
  if (lane !== undefined) tx.update(jobs, job, standingIn(lane));
  return lane ?? job.lane;
}

function standingIn(lane: string): Pick<JobRow, "lane" | "road"> {
  return { lane, road: roadOf(lane) };
}

async function held(tx: Tx, claim: Claim): Promise<Seen<JobRow> | undefined> {
  const job = await tx.get(jobByName, [claim.kind, claim.key], { hold: true });
  return job?.leased === true && job.fence === claim.fence ? job : undefined;
}

function claimOf({ kind, key, account_id, mode, lane, fence, failures }: JobRow): Claim {
  return { kind, key, account_id, mode, lane, fence, failures };
}
