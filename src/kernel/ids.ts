import { encodeTime, monotonicFactory } from "ulid";

/** An id is a prefix that names the noun, and a ULID: 48 bits of milliseconds and 80 random bits in Crockford's base 32. */
export type Id<P extends string> = `${P}_${string}`;

export type AccountId = Id<"acct">;
export type KeyId = Id<"key">;
export type SenderId = Id<"snd">;
export type MessageId = Id<"msg">;
export type ContactId = Id<"ct">;
export type ConversationId = Id<"conv">;
export type NoteId = Id<"note">;
export type AgentId = Id<"agt">;
export type PlaybookId = Id<"pb">;
export type RunId = Id<"run">;
export type ObservationId = Id<"obs">;
export type WebhookId = Id<"wh">;
export type DeliveryId = Id<"dlv">;
export type AttemptId = Id<"att">;
export type EventId = Id<"evt">;
export type WebchatSessionId = Id<"wcs">;
export type EntryId = Id<"ent">;
export type RequestId = Id<"req">;

export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Guards look-ups by an id that came from outside: what is none can't be found. */
export function isId<P extends string>(prefix: P, text: string): text is Id<P> {
  return text.startsWith(`${prefix}_`) && ulidPattern.test(text.slice(prefix.length + 1));
}

/** Draws ids. Those of one source ascend, also within a millisecond and when the clock steps back. */
export type DrawId = <P extends string>(prefix: P) => Id<P>;

export function idSource(
  clock: { now(): number },
  random: { bytes(length: number): Uint8Array },
): DrawId {
  const ulid = monotonicFactory(() => {
    const [high = 0, low = 0] = random.bytes(2);
    return (high * 256 + low) / 65_536;
  });
  return (prefix) => `${prefix}_${ulid(clock.now())}`;
}

/** Ids that were drawn before `ms` sort before this one; those drawn later, or then, do not. */
export function firstIdAt<P extends string>(prefix: P, ms: number): Id<P> {
  return `${prefix}_${encodeTime(Math.max(0, ms))}${"0".repeat(16)}`;
}

/** An id without its prefix. */
export function ulidOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}
