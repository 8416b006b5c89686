/** What a job is: its kind, its key, its lane and the handler that runs it. */
import {
  type AccountId,
  type AttemptId,
  boundedCache,
  type ContactId,
  type ConversationId,
  type MessageId,
  type Mode,
  type WebhookId,
} from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import type { SendClass } from "./classes.ts";
import { decodeNames, encodeNames } from "./names.ts";

/**
 * What a job of each kind works on. There is one job for each kind and key, however often it is
 * armed.
 */
export interface JobKeys {
  /** Sends the queued messages of a conversation, in order. */
  readonly send: { readonly conversation_id: ConversationId };
  /** Queues a scheduled message when it is due. */
  readonly release: { readonly message_id: MessageId };
  /** Lets the conversations that wait for a sender's throttle continue. */
  readonly throttle: {
    readonly account_id: AccountId;
    readonly mode: Mode;
    readonly address: string;
  };
  /** Looks up an attempt whose outcome is unknown or whose receipts have not come. */
  readonly "follow-up": { readonly attempt_id: AttemptId };
  /** Applies receipts that came before their message's provider id was known. */
  readonly "early-receipt": { readonly transport: string; readonly provider_message_id: string };
  /** Calls a consumer's handler with the events of one key, in order. */
  readonly consume: { readonly consumer: string; readonly key: string };
  /** Sends a webhook the deliveries that are due. */
  readonly deliver: { readonly webhook_id: WebhookId };
  /** Schedules a webhook's failed deliveries again. */
  readonly recover: { readonly webhook_id: WebhookId };
  /** Removes the deliveries of a deleted webhook. */
  readonly discard: { readonly webhook_id: WebhookId };
  /** Scores a contact's messages. */
  readonly score: { readonly contact_id: ContactId };
  /** Runs an agent's turn in a conversation. */
  readonly turn: { readonly conversation_id: ConversationId };
  /** Acts if no person takes a conversation from the queue in time. */
  readonly "queue-timeout": { readonly conversation_id: ConversationId };
  /** Opens a snoozed conversation when the snooze ends. */
  readonly wake: { readonly conversation_id: ConversationId };
  /** Moves the history of a merged contact to the surviving one. */
  readonly merge: { readonly contact_id: ContactId };
  /** Removes the remaining data of an erased contact. */
  readonly erase: { readonly contact_id: ContactId };
  /** Removes the stored responses about an erased contact's address, which its hash names. */
  readonly "erase-address": { readonly hash: string };
  /** Removes expired rows. */
  readonly reap: { readonly what: "expired" };
}

export type JobKind = keyof JobKeys;

/** Kinds whose jobs belong to the engine and not to an account. */
export type EngineJobKind = "early-receipt" | "consume" | "reap";

/** A kind and a key that belongs to it. */
export type JobName<K extends JobKind = JobKind> = {
  [P in K]: { readonly kind: P; readonly key: JobKeys[P] };
}[K];

/** A `JobName` whose kind is not known to the compiler. */
export interface AnyJobName {
  readonly kind: JobKind;
  readonly key: JobKeys[JobKind];
}

const keyFields: { readonly [K in JobKind]: readonly (keyof JobKeys[K])[] } = {
  send: ["conversation_id"],
  release: ["message_id"],
  throttle: ["account_id", "mode", "address"],
  "follow-up": ["attempt_id"],
  "early-receipt": ["transport", "provider_message_id"],
  consume: ["consumer", "key"],
  deliver: ["webhook_id"],
  recover: ["webhook_id"],
  discard: ["webhook_id"],
  score: ["contact_id"],
  turn: ["conversation_id"],
  "queue-timeout": ["conversation_id"],
  wake: ["conversation_id"],
  merge: ["contact_id"],
  erase: ["contact_id"],
  "erase-address": ["hash"],
  reap: ["what"],
};

/** Returns the text under which a job's key is stored. A single id is stored as it is. */
export function encodeJobKey({ kind, key }: AnyJobName): string {
  const values: Readonly<Record<string, string>> = key;
  return encodeNames(keyFields[kind].map((field) => values[field] ?? ""));
}

/** Returns the key that `encodeJobKey` stored for a job of this kind. */
export function decodeJobKey<K extends JobKind>(kind: K, text: string): JobKeys[K] {
  const values = decodeNames(text);
  // `encodeJobKey` wrote a value for each field.
  return Object.fromEntries(keyFields[kind].map((field, i) => [field, values[i]])) as JobKeys[K];
}

/** Jobs that call a remote for an account: a transport, or the sentiment analyzer. */
interface RemoteLane {
  /** The name of the transport, or of the analyzer. */
  readonly remote: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

interface SendLane extends RemoteLane {
  /** The sender's address whose throttle the jobs wait for; null when they wait for none. */
  readonly waiting_for: string | null;
  /** The best class among the conversation's queued messages. */
  readonly class: SendClass;
}

/** The fields that distinguish the lanes of each kind. Kinds that are not listed have one lane. */
interface LaneNames {
  readonly send: SendLane;
  readonly release: Pick<SendLane, "class">;
  readonly "follow-up": RemoteLane;
  readonly score: RemoteLane;
  readonly consume: { readonly consumer: string };
  readonly deliver: { readonly webhook_id: WebhookId };
  readonly turn: Pick<RemoteLane, "account_id" | "mode">;
}

/**
 * A queue of jobs of one kind. Lanes that differ only in their class form a group; any other lane
 * is a group by itself. The dispatcher takes jobs from the groups round-robin and limits how many
 * jobs of one group run at once, so the backlog of one remote does not delay the others. Within a
 * group, jobs are picked by class (`classes.ts`).
 */
export type Lane<K extends JobKind = JobKind> = {
  [P in K]: {
    readonly kind: P;
    /**
     * Failing jobs wait in a slow lane with its own limit, so that they do not delay other jobs.
     */
    readonly slow: boolean;
  } & (P extends keyof LaneNames ? LaneNames[P] : unknown);
}[K];

const laneFields: { readonly [K in keyof LaneNames]: readonly (keyof LaneNames[K])[] } = {
  // The class is last, so that the lanes of a group follow one another in the index.
  send: ["remote", "account_id", "mode", "waiting_for", "class"],
  release: ["class"],
  "follow-up": ["remote", "account_id", "mode"],
  score: ["remote", "account_id", "mode"],
  consume: ["consumer"],
  deliver: ["webhook_id"],
  turn: ["account_id", "mode"],
};

const laneFieldsOf = (kind: string): readonly string[] =>
  kind in laneFields ? laneFields[kind as keyof LaneNames] : [];

/**
 * The decoded lanes, and their texts. The dispatcher decodes and encodes the lane of a job many
 * times, and few lanes are in use at once.
 */
const textOf = new WeakMap<Lane, string>();
const laneOf = boundedCache<string, Lane>(10_000);

/** Returns the text under which a lane is stored. Equal lanes have equal texts. */
export function encodeLane(lane: Lane): string {
  const known = textOf.get(lane);
  if (known !== undefined) return known;
  const values: Readonly<Record<string, unknown>> = { ...lane };
  const parts = laneFieldsOf(lane.kind).map((name) => values[name] ?? "");
  return encodeNames([lane.kind, lane.slow ? "slow" : "quick", ...parts.map(String)]);
}

/** Returns the lane that `encodeLane` stored. */
export function decodeLane(text: string): Lane {
  let lane = laneOf.get(text);
  if (lane === undefined) {
    const [kind = "", speed, ...values] = decodeNames(text);
    // Of the names, only `waiting_for` can be absent, and no address is empty.
    const fields = laneFieldsOf(kind).map((name, i) => [
      name,
      name === "waiting_for" && values[i] === "" ? null : values[i],
    ]);
    // `encodeLane` wrote it, so the kind and its names are there.
    lane = { kind, slow: speed === "slow", ...Object.fromEntries(fields) } as Lane;
    laneOf.set(text, Object.freeze(lane));
    textOf.set(lane, text);
  }
  return lane;
}

/** Returns the name of a lane's group: the lanes that differ from it only in their class. */
export function groupOf(lane: Lane): string {
  const text = encodeLane(lane);
  return "class" in lane ? text.slice(0, text.lastIndexOf("/")) : text;
}

/** Returns the class of a lane's jobs. Jobs without classes are all of the best one. */
export function classOf(lane: Lane): SendClass {
  return "class" in lane ? lane.class : "single";
}

/**
 * Returns the lane of a job that does not wait for a throttle: the usual lane, or the slow lane
 * beside it.
 */
export function readyLane<L extends Lane>(lane: L, { slow }: { readonly slow: boolean }): L {
  return "waiting_for" in lane ? { ...lane, slow, waiting_for: null } : { ...lane, slow };
}

/** Returns the remote that the jobs of a lane call, or undefined if they call none. */
export function remoteOf(lane: Lane): string | undefined {
  return "remote" in lane ? lane.remote : undefined;
}

/**
 * Groups of lanes with separate concurrency limits. Calls to webhooks and models mostly wait. A
 * webhook is in the slow pool unless its last automatic attempt succeeded. Any number of slow
 * webhooks may hang without delaying the jobs of another pool.
 */
export const pools = ["work", "webhooks", "slow_webhooks", "turns"] as const;
export type Pool = (typeof pools)[number];

export function poolOf({ kind, slow }: Pick<Lane, "kind" | "slow">): Pool {
  if (kind === "deliver") return slow ? "slow_webhooks" : "webhooks";
  return kind === "turn" ? "turns" : "work";
}

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
  /** Aborts when the engine begins to stop: finish what was begun and begin nothing more. */
  readonly stopping: AbortSignal;
  /**
   * Counts the job in its slow lane from now on, because it waits long for a remote. Frees its slot
   * for another job.
   */
  readonly moveToSlowLane: () => void;
  /**
   * Frees the slot for another job, unless as many jobs of the lane go on without one as may have
   * slots. Call it when this job has made its last call to a remote and only records the result. It
   * must not call a remote again.
   */
  readonly freeSlot: () => void;
}

/**
 * Does the work of one job and finishes the job, preferably in its last transaction. When it
 * throws, the error is logged and the job runs again after a pause.
 */
export interface JobHandler<K extends JobKind = JobKind> {
  (claim: Claim<K>, run: JobRun): Promise<void>;
  /**
   * Does the first step of the job in the transaction that leases it, and returns the rest of the
   * job, to be run after the commit. Absent if each run begins after the lease is committed.
   */
  readonly begin?: BeginJob<K> | undefined;
}

/** Does the first step of a job in the transaction that leases it, and returns the rest. */
export type BeginJob<K extends JobKind = JobKind> = (
  tx: Tx,
  claim: Claim<K>,
) => Promise<(run: JobRun) => Promise<void>>;

/** Creates the handler for one engine. `R` is the part of the engine that the handler needs. */
export type JobDefinition<K extends JobKind, R> = (runtime: R) => JobHandler<K>;

/** A definition for every kind of job. */
export type JobTable<R> = { readonly [K in JobKind]: JobDefinition<K, R> };
export type JobHandlers = { readonly [K in JobKind]: JobHandler<K> };
