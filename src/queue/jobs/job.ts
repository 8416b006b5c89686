/** What a job is while it waits and while it runs, and the handler that runs it. */
import type { AccountId, Mode } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import type { EngineJobKind, JobKeys, JobKind } from "./job-kinds.ts";
import type { Lane } from "./lane.ts";

interface JobOf<K extends JobKind> {
  readonly kind: K;
  readonly key: JobKeys[K];
  /** The account that the work belongs to; null for the engine's own work. */
  readonly account_id: K extends EngineJobKind ? null : AccountId;
  readonly mode: K extends EngineJobKind ? null : Mode;
  readonly lane: Lane<K>;
}

interface Due {
  /** The job does not run before this time, in milliseconds. */
  readonly due_at: number;
}

interface Leased {
  /** Random for each lease. A holder with another fence has lost the job. */
  readonly fence: number;
  /** When the lease ends unless the holder extends it, in milliseconds since the epoch. */
  readonly leased_until: number;
  /** Failures since the job last succeeded. */
  readonly failures: number;
}

/** A job to be armed. */
export type JobOrder<K extends JobKind = JobKind> = { [P in K]: JobOf<P> & Due }[K];

/** A job that one dispatcher has leased. */
export type Claim<K extends JobKind = JobKind> = { [P in K]: JobOf<P> & Leased }[K];

/** What a handler knows about the run of its job. */
export interface JobRun {
  /** Aborts at the deadline of the engine's stop. */
  readonly abort: AbortSignal;
  /**
   * Aborts when the engine begins to stop, at the latest with `abort`: finish what has started, and
   * start nothing more.
   */
  readonly stopping: AbortSignal;
  /**
   * Counts the job in its slow lane from now on, because it waits long for a remote. Frees its slot
   * for another job.
   */
  readonly moveToSlowLane: () => void;
  /**
   * Frees the slot for another job. Does nothing if the lane's group already has as many jobs
   * without a slot as it has slots. Call it when this job has made its last call to a remote and
   * only records the result. It must not call a remote again.
   */
  readonly freeSlot: () => void;
}

/**
 * Does the work of one job and finishes the job, preferably in its last transaction. When it
 * throws, the error is logged and the job runs again after a pause.
 */
export interface JobHandler<K extends JobKind = JobKind> {
  (claim: Claim<K>, run: JobRun): Promise<void>;
  /** Absent if each run begins after the lease is committed. */
  readonly firstStep?: FirstStep<K> | undefined;
  /** Prefetches what the first step reads, so that it is read together with the job. */
  readonly prefetch?: ((tx: Tx, key: JobKeys[K]) => void) | undefined;
}

/** Does the first step of a job in the transaction that leases it. */
export type FirstStep<K extends JobKind = JobKind> = (
  tx: Tx,
  claim: Claim<K>,
) => Promise<RestOfJob<Tx>>;

/** What follows the first step of a job. `T` is the kind of transaction in which it is undone. */
export interface RestOfJob<T> {
  /** Does the rest of the job, after the commit. */
  readonly run: (run: JobRun) => Promise<void>;
  /**
   * Undoes the first step. Called if the commit of the lease got no answer and proves to be stored,
   * but the lease has been lost since. Only this process knows that the rest was not begun.
   */
  readonly undo: (tx: T) => Promise<void>;
}

/** Creates the handler for one engine. `R` is the part of the engine that the handler needs. */
export type JobDefinition<K extends JobKind, R> = (runtime: R) => JobHandler<K>;

/** A definition for every kind of job. */
export type JobTable<R> = { readonly [K in JobKind]: JobDefinition<K, R> };
export type JobHandlers = { readonly [K in JobKind]: JobHandler<K> };
