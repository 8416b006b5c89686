import type {
  AccountId,
  AttemptId,
  ContactId,
  ConversationId,
  MessageId,
  Mode,
  WebhookId,
} from "../kernel/index.ts";

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

const fields: { readonly [K in JobKind]: readonly (keyof JobKeys[K])[] } = {
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
  reap: ["what"],
};

/** Returns the text under which a job's key is stored. A single id is stored as it is. */
export function encodeJobKey({ kind, key }: AnyJobName): string {
  const values: Readonly<Record<string, string>> = key;
  return encodeNames(fields[kind].map((field) => values[field] ?? ""));
}

/** Returns the key that `encodeJobKey` stored for a job of this kind. */
export function decodeJobKey<K extends JobKind>(kind: K, text: string): JobKeys[K] {
  const values = decodeNames(text);
  // `encodeJobKey` wrote a value for each field.
  return Object.fromEntries(fields[kind].map((field, i) => [field, values[i]])) as JobKeys[K];
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
