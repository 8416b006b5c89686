import type { AccountId, Mode } from "../kernel/index.ts";
import type { EngineJobKind, JobKeys, JobKind, JobName } from "./job-key.ts";
import type { Lane } from "./lane.ts";

export type { JobKeys, JobKind, JobName, Lane };

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
  /** True once the engine stops: finish what was begun and begin nothing more. */
  readonly isStopping: () => boolean;
  /**
   * Counts the job in its slow lane from now on, because it waits long for a remote. Frees its slot
   * for another job.
   */
  readonly moveToSlowLane: () => void;
}

/**
 * Does the work of one job and finishes the job, preferably in its last transaction. When it
 * throws, the error is logged and the job runs again after a pause.
 */
export type JobHandler<K extends JobKind = JobKind> = (
  claim: Claim<K>,
  run: JobRun,
) => Promise<void>;

/** Creates the handler for one engine. `R` is the part of the engine that the handler needs. */
export type JobDefinition<K extends JobKind, R> = (runtime: R) => JobHandler<K>;

/** A definition for every kind of job. */
export type JobTable<R> = { readonly [K in JobKind]: JobDefinition<K, R> };
export type JobHandlers = { readonly [K in JobKind]: JobHandler<K> };
