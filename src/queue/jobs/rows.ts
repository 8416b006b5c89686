/**
 * The rows of jobs. `arm` (`arm.ts`) sets the due time of a job. When the job is due, a dispatcher
 * leases it, runs it and finishes it (`lease.ts`): the job is removed or gets a new due time. A
 * leased job is due when its lease expires, so a crash needs no clean-up. The register of engines
 * ends the leases of a crashed engine earlier. A job that is armed while it is leased remains due
 * after it is finished.
 */
import type { AccountId, Mode } from "../../kernel/index.ts";
import {
  boolean,
  collection,
  integer,
  nullable,
  text,
  time,
  type RowOf,
  type Seen,
} from "../../ports/index.ts";
import {
  unscoped,
  type PlannedRead,
  type ReadOptions,
  type Tx,
  type UnscopedTx,
} from "../../store/index.ts";
import type { JobClass } from "./classes.ts";
import { encodeJobKey, type AnyJobName, type JobKind } from "./job-kinds.ts";
import { decodeLane, encodeLane, poolOf, type Lane, type Pool } from "./lane.ts";

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
    leased_by: nullable(text()),
  },
  { kind: "queue" },
);
export interface JobRow extends RowOf<typeof jobs> {}

export const jobByName = jobs.key("kind", "key");
export const jobsByDueTime = jobs.index("by_due_at", ["pool", "due_at"]);
export const jobsByLane = jobs.index("by_lane", ["pool", "lane", "due_at"]);

/**
 * The jobs of all accounts and of the engine are in one collection, because a dispatcher takes them
 * all. So the functions of jobs make an unscoped transaction of the one that they get. `arm`
 * ensures that a scoped transaction arms no job of another scope.
 */
export type AnyTx = Tx | UnscopedTx;

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

/** Returns the changes that move a job to the lane of a class. Empty if it already is there. */
export function inClass(job: JobRow, jobClass: JobClass): Partial<JobRow> {
  const lane = decodeLane(job.lane);
  if (!("class" in lane) || lane.class === jobClass) return {};
  return storedLane({ ...lane, class: jobClass });
}

/** Returns the columns that store a lane. */
export function storedLane(lane: Lane): Pick<JobRow, "lane" | "pool"> {
  return { lane: encodeLane(lane), pool: poolOf(lane) };
}
