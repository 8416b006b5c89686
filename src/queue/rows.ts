/**
 * The life cycle of a job. `arm` sets its due time. When the job is due, a dispatcher leases it,
 * runs it and finishes it: the job is removed or gets a new due time. A leased job is due when its
 * lease expires, so a crash needs no clean-up. The register of engines ends the leases of a crashed
 * engine earlier. A job that is armed while it is leased remains due after it is finished.
 */
import {
  added,
  boolean,
  collection,
  integer,
  nullable,
  type RowOf,
  type Seen,
  text,
  time,
} from "../ports/index.ts";
import type { AccountId, Mode } from "../kernel/index.ts";
import {
  type PlannedRead,
  type ReadOptions,
  type Tx,
  unscoped,
  type UnscopedTx,
} from "../store/index.ts";
import { bestOf, type SendClass } from "./classes.ts";
import type { Claim, JobOrder } from "./job.ts";
import {
  type AnyJobName,
  decodeJobKey,
  encodeJobKey,
  type JobKind,
  type JobName,
} from "./job-kinds.ts";
import {
  classOf,
  decodeLane,
  encodeLane,
  type Lane,
  type Pool,
  poolOf,
  readyLane,
} from "./lane.ts";

/**
 * The pause after the first failure of a job, in milliseconds. It doubles with each further
 * failure.
 */
const pauseMs = 1_000;
const maxPauseMs = 300_000;

/** A job's name as it is stored. */
export interface StoredJobName {
  readonly kind: JobKind;
  /** Encoded by `encodeJobKey`. */
  readonly key: string;
}

export const jobs = collection(
  "jobs",
  {
    kind: text<JobKind>(),
    /** Encoded by `encodeJobKey`. */
    key: text(),
    /** The account that the work belongs to; null for the engine's own work. */
    account_id: nullable(text<AccountId>()),
    mode: nullable(text<Mode>()),
    /** The lane's pool. */
    pool: text<Pool>(),
    /** Encoded by `encodeLane`. */
    lane: text(),
    /** When the job can be leased: when the work is due, or when the lease expires. */
    due_at: time(),
    leased: boolean(),
    fence: integer(),
    /** The earliest due time that the job was armed with while it was leased. */
    rearmed_at: nullable(time()),
    failures: integer(),
    /**
     * The id in `engines` of the engine that leased the job last. Null if its lease can end only by
     * its expiry.
     */
    leased_by: added(2, nullable(text())),
  },
  { kind: "queue" },
);
export interface JobRow extends RowOf<typeof jobs> {}

export const jobByName = jobs.key("kind", "key");
export const jobsByDueTime = jobs.index("by_due_at", ["pool", "due_at"]);
export const jobsByLane = jobs.index("by_lane", ["pool", "lane", "due_at"]);

export function storedName(name: AnyJobName): StoredJobName {
  return { kind: name.kind, key: encodeJobKey(name) };
}

/** Returns a name as one text, for maps of jobs. */
export const nameOf = ({ kind, key }: StoredJobName): string => `${kind}:${key}`;

/** Returns the stored job with this name, or undefined if there is none. */
export function findJob(
  within: AnyTx,
  name: AnyJobName,
  options?: ReadOptions,
): Promise<Seen<JobRow> | undefined> {
  return unscoped(within).get(jobByName, [name.kind, encodeJobKey(name)], options);
}

/** Prefetches a job that this transaction is going to find, arm, renew or finish. */
export function prefetchJob(within: AnyTx, name: AnyJobName): void {
  unscoped(within).prefetch(() => [plannedRead(name)]);
}

/** Lets later transactions about a subject prefetch a job (`Tx.remember`). */
export function rememberJob(within: AnyTx, subject: string, name: AnyJobName): void {
  unscoped(within).remember(subject, () => [plannedRead(name)]);
}

function plannedRead(name: AnyJobName): PlannedRead {
  return { index: jobByName, key: [name.kind, encodeJobKey(name)] };
}

/**
 * The jobs of all accounts and of the engine are in one collection, because a dispatcher takes them
 * all. So these functions use unscoped transactions. `checkOwner` ensures that a scoped transaction
 * arms no job of another scope.
 */
type AnyTx = Tx | UnscopedTx;

/**
 * Makes sure that the job runs at `due_at` or earlier, after this transaction, and in the lane of
 * the order's class or of a better one.
 */
export async function arm(within: AnyTx, order: JobOrder): Promise<void> {
  checkOwner(within, order);
  const tx = unscoped(within);
  // Guards the job even if nothing is written, so that no dispatcher finishes it at the same time.
  const job = await findJob(within, order, { hold: "recent" });
  if (job === undefined) return armNew(within, order);
  const better = bestOf(classOf(decodeLane(job.lane)), classOf(order.lane));
  const change = { ...dueBy(job, order.due_at), ...inClass(job, better) };
  // A lease that is taken at the same time may do its first step in the same transaction, without
  // the work that this transaction adds. The write makes one of the two run again.
  if (!job.leased || Object.keys(change).length > 0) tx.update(jobs, job, change);
}

/** Returns the changes that make a job due by `due_at`. Empty if it already is. */
function dueBy(job: JobRow, due_at: number): Partial<JobRow> {
  const current = job.leased ? (job.rearmed_at ?? Infinity) : job.due_at;
  if (current <= due_at) return {};
  return job.leased ? { rearmed_at: due_at } : { due_at };
}

/** Returns the changes that move a job to the lane of a class. Empty if it is there. */
function inClass(job: JobRow, sendClass: SendClass): Partial<JobRow> {
  const lane = decodeLane(job.lane);
  if (!("class" in lane) || lane.class === sendClass) return {};
  return storedLane({ ...lane, class: sendClass });
}

/** Arms a job whose key was created in this transaction, so no other transaction has armed it. */
export function armNew(within: AnyTx, order: JobOrder): void {
  checkOwner(within, order);
  const { kind, account_id, mode, lane, due_at } = order;
  unscoped(within).insert(jobs, {
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
 */
export async function disarm(within: AnyTx, name: JobName): Promise<void> {
  const tx = unscoped(within);
  const job = await findJob(within, name);
  if (job !== undefined) tx.remove(jobs, job);
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

/** A lease to be taken. */
interface LeaseOrder {
  readonly leaseMs: number;
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
  { leaseMs, fence, leasedBy }: LeaseOrder,
): Promise<Claim | undefined> {
  const job = await tx.get(jobByName, [kind, key], { lock: true, hold: "recent" });
  if (job === undefined || job.due_at > tx.now) return undefined;
  const due_at = tx.now + leaseMs;
  return claimOf(tx.update(jobs, job, { leased: true, fence, due_at, leased_by: leasedBy }));
}

/** The pause after a failure, in milliseconds. `earlier` is the number of failures before it. */
export function pauseAfter(earlier: number): number {
  return Math.min(pauseMs * 2 ** earlier, maxPauseMs);
}

/** The part of a claim that proves its lease. */
type LeaseProof = AnyJobName & Pick<Claim, "fence">;

/**
 * Checks in this transaction that the claim still has the lease, and extends the lease when less
 * than half of it is left. Returns false if the lease was lost: another dispatcher has the job, or
 * the job was removed.
 */
export async function renew(within: AnyTx, claim: LeaseProof, leaseMs: number): Promise<boolean> {
  const tx = unscoped(within);
  const job = await leasedJob(within, claim);
  if (job === undefined) return false;
  if (job.due_at - tx.now < leaseMs / 2) tx.update(jobs, job, { due_at: tx.now + leaseMs });
  return true;
}

interface Finish {
  /** When to run the job again, in milliseconds since the epoch; absent when the work is done. */
  readonly againAt?: number;
  /** Whether the run failed. Otherwise the job's count of failures starts again. */
  readonly failed?: boolean;
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
  { againAt, failed = false, lane }: Finish = {},
): Promise<void> {
  const tx = unscoped(within);
  const job = await leasedJob(within, claim);
  if (job === undefined) return;
  const due = Math.min(againAt ?? Infinity, job.rearmed_at ?? Infinity);
  if (due === Infinity) {
    tx.remove(jobs, job);
    return;
  }
  const failures = failed ? job.failures + 1 : 0;
  const next = lane ?? readyLane(decodeLane(job.lane), { slow: failed });
  tx.update(jobs, job, {
    leased: false,
    due_at: due,
    rearmed_at: null,
    failures,
    ...storedLane(next),
  });
}

/** Whether the job was armed again since it was claimed. False if the lease was lost. */
export async function isRearmed(within: AnyTx, claim: LeaseProof): Promise<boolean> {
  const job = await leasedJob(within, claim);
  return job !== undefined && job.rearmed_at !== null;
}

/**
 * Returns when the lease of the claim ends, in milliseconds since the epoch. After `renew`, at least
 * half of it is left.
 */
export async function leaseEnd(within: AnyTx, claim: Claim): Promise<number> {
  return (await requireLeasedJob(within, claim)).due_at;
}

/** Returns the lane of the job. The job may have been moved since it was claimed. */
export async function currentLane(within: AnyTx, claim: Claim): Promise<Lane> {
  return decodeLane((await requireLeasedJob(within, claim)).lane);
}

/**
 * Moves the job to the lane of the class that `choose` returns; `choose` gets its current class.
 * Does nothing if the lease was lost. A job that was armed during its run keeps its class until the
 * next one: arming it again may write nothing, so `choose` may not see what it was armed for.
 */
export async function moveToClass(
  within: AnyTx,
  claim: LeaseProof,
  choose: (current: SendClass) => Promise<SendClass>,
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

function storedLane(lane: Lane): Pick<JobRow, "lane" | "pool"> {
  return { lane: encodeLane(lane), pool: poolOf(lane) };
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

/**
 * Checks that a scoped transaction arms no job of another scope.
 * @throws TypeError if it does
 */
function checkOwner(tx: AnyTx, { kind, account_id, mode }: JobOrder): void {
  if ("in" in tx || account_id === null) return;
  if (account_id !== tx.scope.account_id || mode !== tx.scope.mode) {
    throw new TypeError(`this transaction cannot arm a ${kind} job of another account or mode`);
  }
}

/** Returns the job of a claim, or undefined if the lease was lost. */
async function leasedJob(within: AnyTx, claim: LeaseProof): Promise<Seen<JobRow> | undefined> {
  const job = await findJob(within, claim, { hold: "recent" });
  return job?.leased === true && job.fence === claim.fence ? job : undefined;
}

function claimOf({ kind, key, account_id, mode, lane, fence, failures, due_at }: JobRow): Claim {
  // Only `armNew` inserts jobs, from an order in which kind, key, account and lane belong together.
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
