import { unscoped, type UnscopedTx } from "../../store/index.ts";
import { bestOf } from "./classes.ts";
import { encodeJobKey, type JobName } from "./job-kinds.ts";
import type { JobOrder } from "./job.ts";
import { classOf, decodeLane, encodeLane, poolOf, type Lane } from "./lane.ts";
import { findJob, inClass, jobs, jobsByLane, storedLane, type AnyTx, type JobRow } from "./rows.ts";

/**
 * Creates the job, or makes the existing one due by `due_at`. If a handler runs the job now, it
 * runs once more. The job waits in the lane of the order's class, unless its own class is better.
 */
export async function arm(within: AnyTx, order: JobOrder): Promise<void> {
  checkOwner(within, order);
  const tx = unscoped(within);
  // Guards the job even if nothing is written, so that no dispatcher finishes it at the same time.
  const job = await findJob(within, order, { hold: "recent" });
  if (job === undefined) return insertJob(tx, order);
  const better = bestOf(classOf(decodeLane(job.lane)), classOf(order.lane));
  const change = { ...dueBy(job, order.due_at), ...inClass(job, better) };
  // A dispatcher may lease the job at the same time and do its first step in the transaction of the
  // lease, without the work that this transaction adds. So the row is written even if nothing in it
  // changes: one of the two transactions then runs again.
  if (!job.leased || Object.keys(change).length > 0) tx.update(jobs, job, change);
}

/** Returns the changes that make a job due by `due_at`. Empty if it already is. */
function dueBy(job: JobRow, due_at: number): Partial<JobRow> {
  const current = job.leased ? (job.rearmed_at ?? Infinity) : job.due_at;
  if (current <= due_at) return {};
  return job.leased ? { rearmed_at: due_at } : { due_at };
}

function insertJob(tx: UnscopedTx, order: JobOrder): void {
  const { kind, account_id, mode, lane, due_at } = order;
  tx.insert(jobs, {
    kind,
    key: encodeJobKey(order),
    account_id,
    mode,
    ...storedLane(lane),
    due_at,
    leased: false,
    fence: 0,
    rearmed_at: null,
    failures: 0,
    leased_by: null,
  });
}

/**
 * Removes a job whose work is no longer needed. If its handler is running, it finds nothing to do.
 * Returns whether the job was there. If several transactions remove it, only one of them gets true.
 */
export async function disarm(within: AnyTx, name: JobName): Promise<boolean> {
  const tx = unscoped(within);
  const job = await findJob(within, name);
  if (job !== undefined) tx.remove(jobs, job);
  return job !== undefined;
}

/**
 * Removes up to `max` jobs of a lane whose work is no longer needed. Returns how many it removed.
 */
export async function disarmLane(within: AnyTx, lane: Lane, max: number): Promise<number> {
  const tx = unscoped(within);
  const found = await tx.list(jobsByLane, [poolOf(lane), encodeLane(lane)], max);
  for (const job of found) tx.remove(jobs, job);
  return found.length;
}

/**
 * Checks that a scoped transaction arms no job of another scope.
 * @throws TypeError if it does
 */
function checkOwner(tx: AnyTx, { kind, account_id, mode }: JobOrder): void {
  // Only unscoped transactions have the method `in`.
  if ("in" in tx || account_id === null) return;
  if (account_id !== tx.scope.account_id || mode !== tx.scope.mode) {
    throw new TypeError(`this transaction cannot arm a ${kind} job of another account or mode`);
  }
}
