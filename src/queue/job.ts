import type { Claim, JobKind } from "./types.ts";

/** What a handler is told about the run of its job. */
export interface JobRun {
  /** Aborts at the deadline of the engine's stop. */
  readonly abort: AbortSignal;
  /** True once the engine stops: finish what was begun and begin nothing more. */
  readonly isStopping: () => boolean;
  /** Counts the job in its slow lane from now on, because it waits long for a remote. Its place goes to another job. */
  readonly moveToSlowLane: () => void;
}

/**
 * Does the work of one job and finishes the job, preferably in its last transaction. When it throws, the error is logged and
 * the job runs again after a pause.
 */
export type JobHandler<K extends JobKind = JobKind> = (
  claim: Claim<K>,
  run: JobRun,
) => Promise<void>;

/** Makes the handler of one engine. `R` is what the handler needs of the engine. */
export type JobDefinition<K extends JobKind, R> = (runtime: R) => JobHandler<K>;

/** A definition for every kind of job. */
export type JobTable<R> = { readonly [K in JobKind]: JobDefinition<K, R> };
export type JobHandlers = { readonly [K in JobKind]: JobHandler<K> };
