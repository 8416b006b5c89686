import type { AccountId } from "../kernel/ids.ts";
import type { Mode } from "../kernel/scope.ts";

/** What kinds of work there are for later. Each has a handler in `src/jobs`. */
export type JobKind =
  | "send"
  | "release"
  | "pace"
  | "follow-up"
  | "unpark"
  | "consume"
  | "deliver"
  | "recover"
  | "discard"
  | "score"
  | "turn"
  | "unqueue"
  | "wake"
  | "merge"
  | "erase"
  | "reap";

/** A job is one row for each kind and key, however often it is armed. */
export interface JobName {
  readonly kind: JobKind;
  /** The id of what the work is about. */
  readonly key: string;
}

/** A job to be armed. */
export interface JobOrder extends JobName {
  /** Whose work it is; null for the engine's own. */
  readonly account_id: AccountId | null;
  readonly mode: Mode | null;
  /** The far side that the work talks to. Lanes take turns, and each has a cap. */
  readonly lane: string;
  /** Not before this time. */
  readonly due_at: number;
}

/** A job in the hands of one dispatcher. `fence` is another with each lease: who holds an older one has lost the job. */
export interface Claim extends JobName {
  readonly account_id: AccountId | null;
  readonly mode: Mode | null;
  readonly lane: string;
  readonly fence: number;
  /** How often it failed since it last went well. */
  readonly failures: number;
}
