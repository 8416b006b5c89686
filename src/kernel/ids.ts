import { encodeTime, monotonicFactory } from "ulid";

/**
 * An id: a prefix that names the kind of resource, and a ULID (48 bits of milliseconds and 80
 * random bits in Crockford's base 32).
 */
export type Id<P extends string> = `${P}_${string}`;

/** The id of an account: `acct_` and a ULID. */
export type AccountId = Id<"acct">;
/** The id of an API key: `key_` and a ULID. */
export type KeyId = Id<"key">;
/** The id of a sender: `snd_` and a ULID. */
export type SenderId = Id<"snd">;
/** The id of a message: `msg_` and a ULID. */
export type MessageId = Id<"msg">;
/** The id of a contact: `ct_` and a ULID. */
export type ContactId = Id<"ct">;
/** The id of a conversation: `conv_` and a ULID. */
export type ConversationId = Id<"conv">;
/** The id of a note: `note_` and a ULID. */
export type NoteId = Id<"note">;
/** The id of an agent: `agt_` and a ULID. */
export type AgentId = Id<"agt">;
/** The id of a playbook: `pb_` and a ULID. */
export type PlaybookId = Id<"pb">;
/** The id of a run of an agent: `run_` and a ULID. */
export type RunId = Id<"run">;
/** The id of an observation: `obs_` and a ULID. */
export type ObservationId = Id<"obs">;
/** The id of a webhook: `wh_` and a ULID. */
export type WebhookId = Id<"wh">;
/** The id of a delivery of a webhook: `dlv_` and a ULID. */
export type DeliveryId = Id<"dlv">;
/** The id of an attempt to send a message: `att_` and a ULID. */
export type AttemptId = Id<"att">;
/** The id of an event: `evt_` and a ULID. */
export type EventId = Id<"evt">;
/** The id of a webchat session: `wcs_` and a ULID. */
export type WebchatSessionId = Id<"wcs">;
export type EntryId = Id<"ent">;
export type RequestId = Id<"req">;

/** What an id names, by its prefix. */
const nouns = {
  acct: "account",
  key: "API key",
  snd: "sender",
  msg: "message",
  ct: "contact",
  conv: "conversation",
  note: "note",
  agt: "agent",
  pb: "playbook",
  run: "run",
  obs: "observation",
  wh: "webhook",
  dlv: "delivery",
  att: "attempt",
  evt: "event",
  wcs: "webchat session",
  ent: "entry",
  req: "request",
};

/** A ULID, as the source of a pattern. */
export const ulidSource = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
export const ulidPattern = new RegExp(`^${ulidSource}$`);

/** Checks an id from outside before a lookup. A malformed id cannot be found. */
export function isId<P extends string>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && ulidPattern.test(text.slice(prefix.length + 1));
}

/**
 * Says which kind of id was expected and which one came. Returns undefined if the id is of the
 * expected kind or of none. It looks only at the prefix, so it does not reveal which ids exist.
 */
export function wrongKind(expected: string, id: string): string | undefined {
  const kinds = Object.entries(nouns);
  const [, given] = kinds.find(([prefix]) => isId(prefix, id)) ?? [];
  const [prefix] = kinds.find(([, noun]) => noun === expected) ?? [];
  if (given === undefined || prefix === undefined || given === expected) return undefined;
  const wanted = `${withArticle(expected)} (${prefix}_…)`;
  return `expected the id of ${wanted}, but this is the id of ${withArticle(given)}`;
}

const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`;

/** Types an id from outside whose form a schema has checked. */
export const playbookId = (text: string): PlaybookId => `pb_${ulidOf(text)}`;

/**
 * Generates ids. The ids of one source ascend, even within one millisecond and when the clock steps
 * back.
 */
export type GenerateId = <P extends string>(prefix: P) => Id<P>;

export function idSource(
  clock: { now(): number },
  random: { bytes(length: number): Uint8Array },
): GenerateId {
  const ulid = monotonicFactory(() => {
    const [high = 0, low = 0] = random.bytes(2);
    return (high * 256 + low) / 65_536;
  });
  return (prefix) => `${prefix}_${ulid(clock.now())}`;
}

/** Ids generated before `ms` sort before this id. Ids generated at or after `ms` do not. */
export function firstIdAt<P extends string>(prefix: P, ms: number): Id<P> {
  return `${prefix}_${encodeTime(Math.max(0, ms))}${"0".repeat(16)}`;
}

/** Returns an id without its prefix. */
export function ulidOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/**
 * `sandbox` or `live`: each account has separate data in each mode. Sandbox data never reaches a
 * real carrier.
 */
export type Mode = "sandbox" | "live";

/**
 * The account and mode whose rows an operation may access. Every command and every read needs one.
 */
export interface Scope {
  /** The id of the account. */
  readonly account_id: AccountId;
  /** The mode, `sandbox` or `live`. */
  readonly mode: Mode;
}

/** Returns a text for a scope, by which a `Map` or a `Set` in memory can find it. */
export function scopeKey({ account_id, mode }: Scope): string {
  return `${account_id} ${mode}`;
}
