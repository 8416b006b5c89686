/** All kinds of jobs, and the names of jobs. */
import type {
  AccountId,
  AttemptId,
  ContactId,
  ConversationId,
  MessageId,
  Mode,
  WebhookId,
} from "../../kernel/index.ts";
import type { JobClass } from "./classes.ts";

/** The fields of keys and lanes. */
interface JobFields {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly conversation_id: ConversationId;
  readonly message_id: MessageId;
  readonly attempt_id: AttemptId;
  readonly contact_id: ContactId;
  readonly webhook_id: WebhookId;
  /** The address of a sender. */
  readonly address: string;
  readonly transport: string;
  readonly provider_message_id: string;
  readonly consumer: string;
  /** The key of events that a consumer takes in order. */
  readonly key: string;
  /** The hash of an erased address. */
  readonly hash: string;
  readonly what: "expired";
  /** The name of the transport, or of the sentiment analyzer, that the jobs of a lane call. */
  readonly remote: string;
  /** The sender's address whose throttle the jobs wait for; null when they wait for none. */
  readonly waiting_for: string | null;
  /** The best class of what the job works on, such as a conversation's queued messages. */
  readonly class: JobClass;
}

interface KindFacts {
  /** Whether the jobs belong to an account, or to the engine. */
  readonly of: "account" | "engine";
  /** What a job works on. There is one job for each kind and key, however often it is armed. */
  readonly key: readonly (keyof JobFields)[];
  /** The fields that distinguish the lanes of the kind. Without any, it has one lane. */
  readonly lane: readonly (keyof JobFields)[];
}

/** The kinds of jobs. */
export const jobKinds = {
  /** Sends the queued messages of a conversation, in order. */
  send: {
    of: "account",
    key: ["conversation_id"],
    // The class is last, so that the lanes of a group follow one another in the index.
    lane: ["remote", "account_id", "mode", "waiting_for", "class"],
  },
  /** Queues a scheduled message when it is due. */
  release: { of: "account", key: ["message_id"], lane: ["class"] },
  /** Lets the conversations that wait for a sender's throttle continue. */
  throttle: { of: "account", key: ["account_id", "mode", "address"], lane: [] },
  /** Looks up an attempt whose outcome is unknown or whose receipts have not come. */
  "follow-up": { of: "account", key: ["attempt_id"], lane: ["remote", "account_id", "mode"] },
  /** Applies receipts that came before their message's provider id was known. */
  "early-receipt": { of: "engine", key: ["transport", "provider_message_id"], lane: [] },
  /** Calls a consumer's handler with the events of one key, in order. */
  consume: { of: "engine", key: ["consumer", "key"], lane: ["consumer"] },
  /** Completes the removal of a consumer. */
  "remove-consumer": { of: "engine", key: ["consumer"], lane: [] },
  /** Sends a webhook the deliveries that are due. */
  deliver: { of: "account", key: ["webhook_id"], lane: ["webhook_id"] },
  /** Schedules a webhook's failed deliveries again. */
  recover: { of: "account", key: ["webhook_id"], lane: [] },
  /** Removes the deliveries of a deleted webhook. */
  discard: { of: "account", key: ["webhook_id"], lane: [] },
  /** Scores a contact's messages. */
  score: { of: "account", key: ["contact_id"], lane: ["remote", "account_id", "mode"] },
  /** Runs an agent's turn in a conversation. */
  turn: { of: "account", key: ["conversation_id"], lane: ["account_id", "mode", "class"] },
  /** Acts if no person takes a conversation from the queue in time. */
  "queue-timeout": { of: "account", key: ["conversation_id"], lane: [] },
  /** Opens a snoozed conversation when the snooze ends. */
  wake: { of: "account", key: ["conversation_id"], lane: [] },
  /** Moves the history of a merged contact to the surviving one. */
  merge: { of: "account", key: ["contact_id"], lane: [] },
  /** Removes the remaining data of an erased contact. */
  erase: { of: "account", key: ["contact_id"], lane: [] },
  /** Removes the stored responses about an erased contact's address, which its hash names. */
  "erase-address": { of: "account", key: ["hash"], lane: [] },
  /** Removes what may quote a redacted message. */
  redact: { of: "account", key: ["message_id"], lane: [] },
  /** Removes expired rows. */
  reap: { of: "engine", key: ["what"], lane: [] },
} as const satisfies Readonly<Record<string, KindFacts>>;

type Kinds = typeof jobKinds;
export type JobKind = keyof Kinds;

/** What a job of each kind works on. */
export type JobKeys = { readonly [K in JobKind]: Pick<JobFields, Kinds[K]["key"][number]> };

/** The fields that distinguish the lanes of each kind. */
export type LaneFields = { readonly [K in JobKind]: Pick<JobFields, Kinds[K]["lane"][number]> };

/** Kinds whose jobs belong to the engine and not to an account. */
export type EngineJobKind = {
  [K in JobKind]: Kinds[K]["of"] extends "engine" ? K : never;
}[JobKind];

/** A kind and a key that belongs to it. */
export type JobName<K extends JobKind = JobKind> = {
  [P in K]: { readonly kind: P; readonly key: JobKeys[P] };
}[K];

/** A `JobName` whose kind is not known to the compiler. */
export interface AnyJobName {
  readonly kind: JobKind;
  readonly key: JobKeys[JobKind];
}

/** Returns the text under which a job's key is stored. A single id is stored as it is. */
export function encodeJobKey({ kind, key }: AnyJobName): string {
  const fields: readonly string[] = jobKinds[kind].key;
  const values: Readonly<Record<string, string>> = key;
  return encodeNames(fields.map((field) => values[field] ?? ""));
}

/** Returns the key that `encodeJobKey` stored for a job of this kind. */
export function decodeJobKey<K extends JobKind>(kind: K, text: string): JobKeys[K] {
  const fields: readonly string[] = jobKinds[kind].key;
  const values = decodeNames(text);
  // `encodeJobKey` wrote a value for each field.
  return Object.fromEntries(fields.map((field, i) => [field, values[i]])) as JobKeys[K];
}

/** Joins names into one text. Different lists of names have different texts. */
export function encodeNames(names: readonly string[]): string {
  return names.map(escapeName).join("/");
}

/** Splits a text that `encodeNames` made. */
export function decodeNames(text: string): string[] {
  return text
    .split("/")
    .map((name) =>
      name.includes("%") ? name.replaceAll("%2F", "/").replaceAll("%25", "%") : name,
    );
}

function escapeName(name: string): string {
  return /[%/]/.test(name) ? name.replaceAll("%", "%25").replaceAll("/", "%2F") : name;
}
