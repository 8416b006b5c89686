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
  /** Drawn for each lease. A holder with another fence has lost the job. */
  readonly fence: number;
  /** Failures since the job last succeeded. */
  readonly failures: number;
}

/** A job to be armed. */
export type JobOrder<K extends JobKind = JobKind> = { [P in K]: JobOf<P> & Due }[K];

/** A job that one dispatcher has leased. */
export type Claim<K extends JobKind = JobKind> = { [P in K]: JobOf<P> & Leased }[K];
