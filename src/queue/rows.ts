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
  type RowOf,
} from "../ports/collection.ts";
import type { AccountId } from "../kernel/ids.ts";
import type { Mode } from "../kernel/scope.ts";
import { unscoped } from "../store/scoped-tx.ts";
import type { Tx, UnscopedTx } from "../store/transaction.ts";
import { laneFor, type Road, roadOf } from "./rules.ts";
import type { Claim, JobKind, JobName, JobOrder } from "./types.ts";

export const jobs = collection("jobs", {
  kind: text<JobKind>(),
  /** The id of what the work is about. */
  key: text(),
  /** Whose work it is; null for the engine's own. */
  account_id: nullable(text<AccountId>()),
  mode: nullable(text<Mode>()),
  /** Its lane's. */
  road: text<Road>(),
  /** The far side that the work talks to. */
  lane: text(),
  /** When it can be leased: when the work is due, or when the lease lapses. */
  due_at: time(),
  leased: boolean(),
  fence: integer(),
  /** The earliest due time that it was armed with while it was leased. */
  rearmed_at: nullable(time()),
  failures: integer(),
});
export interface JobRow extends RowOf<typeof jobs> {}

export const jobByName = jobs.key("kind", "key");
export const jobsByDueTime = jobs.index("by_due_at", ["road", "due_at"]);
export const jobsByLane = jobs.index("by_lane", ["road", "lane", "due_at"]);

/**
 * Jobs of all accounts, and the engine's own, are in one collection, since a dispatcher takes them all. So these functions go past the
 * scope of a transaction. `checkOwner` sees to it that a scoped one arms no job of another scope.
 */
type AnyTx = Tx | UnscopedTx;

/** Makes sure that the job runs at `due_at` or earlier, after this transaction. */
export async function arm(within: AnyTx, order: JobOrder): Promise<void> {
  checkOwner(within, order);
  const tx = unscoped(within);
  const job = await tx.get(jobByName, [order.kind, order.key], { hold: true });
  if (job === undefined) {
    armNew(within, order);
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
export function armNew(within: AnyTx, order: JobOrder): void {
  checkOwner(within, order);
  unscoped(within).insert(jobs, {
    ...order,
    ...standingIn(order.lane),
    leased: false,
    fence: 0,
    rearmed_at: null,
    failures: 0,
  });
}

/** Whether a job is armed, leased or not. */
export async function isArmed(within: AnyTx, { kind, key }: JobName): Promise<boolean> {
  return (await unscoped(within).get(jobByName, [kind, key])) !== undefined;
}

/** Removes a job that nobody has to do any more. One that runs at this moment finds nothing to do. */
export async function disarm(within: AnyTx, { kind, key }: JobName): Promise<void> {
  const tx = unscoped(within);
  const job = await tx.get(jobByName, [kind, key]);
  if (job !== undefined) tx.remove(jobs, job);
}

/**
 * Takes a job that is due; `undefined` when another dispatcher was faster. `fence` is drawn for this lease: counted in the row, it
 * would begin anew when the job is done and armed again, and who stalled since its first life would hold its second.
 */
export async function lease(
  tx: UnscopedTx,
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
export async function renew(within: AnyTx, claim: Claim, leaseMs: number): Promise<boolean> {
  const tx = unscoped(within);
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
  within: AnyTx,
  claim: Claim,
  { againAt, failed = false, lane }: Finish = {},
): Promise<void> {
  const tx = unscoped(within);
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
export async function inLane(within: AnyTx, claim: Claim, lane?: string): Promise<string> {
  const tx = unscoped(within);
  const job = await held(tx, claim);
  if (job === undefined) throw new TypeError("the claim was renewed in this transaction");
  if (lane !== undefined) tx.update(jobs, job, standingIn(lane));
  return lane ?? job.lane;
}

function checkOwner(tx: AnyTx, { kind, account_id, mode }: JobOrder): void {
  if ("in" in tx || account_id === null) return;
  if (account_id !== tx.scope.account_id || mode !== tx.scope.mode) {
    throw new TypeError(`a ${kind} job of another account or mode can't be armed here`);
  }
}

function standingIn(lane: string): Pick<JobRow, "lane" | "road"> {
  return { lane, road: roadOf(lane) };
}

async function held(tx: UnscopedTx, claim: Claim): Promise<Seen<JobRow> | undefined> {
  const job = await tx.get(jobByName, [claim.kind, claim.key], { hold: true });
  return job?.leased === true && job.fence === claim.fence ? job : undefined;
}

function claimOf({ kind, key, account_id, mode, lane, fence, failures }: JobRow): Claim {
  return { kind, key, account_id, mode, lane, fence, failures };
}
