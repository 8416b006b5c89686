import { createHash } from "node:crypto";
import {
  type ContactId,
  type ConversationId,
  type EventId,
  type MessageId,
  type RunId,
  ulidOf,
} from "../kernel/index.ts";
import { json, nullable, position, type RowOf, scoped, text, time } from "../ports/index.ts";
import type { EventType } from "./types.ts";

/** The log of events. `position` is their order: that of the commits that brought them. */
export const events = scoped("events", {
  id: text<EventId>(),
  position: position(),
  type: text<EventType>(),
  /** What consumers keep in order: the conversation, else the contact. */
  conversation_id: nullable(text<ConversationId>()),
  contact_id: nullable(text<ContactId>()),
  data: json<object>(),
  created_at: time(),
});
export interface EventRow extends RowOf<typeof events> {}

export const eventById = events.byId.key("id");
export const eventsByPosition = events.acrossScopes.unique("by_position", ["position"]);
/** One account's events in one mode, in the order of commits. */
export const eventsOfAccount = events.index("by_account", ["position"]);
/** What an erasure goes through. */
export const eventsOfContact = events.byId.index("by_contact", ["contact_id"], {
  where: { column: "contact_id", present: true },
});

/** `message.received` has a message's words, and is found by the message's id to be redacted with it. */
export function receivedEventId(id: MessageId): EventId {
  return `evt_${ulidOf(id)}`;
}

/** `conversation.handoff` by a run may quote messages too: its id is the run's with other random bits, and so is found the same way. */
export function handoffEventId(id: RunId): EventId {
  const time = ulidOf(id).slice(0, 10);
  const bits = createHash("sha256").update(`handoff ${id}`).digest().subarray(0, 16);
  return `evt_${time}${Array.from(bits, (byte) => crockford.charAt(byte % 32)).join("")}`;
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** `agent.run.completed` may quote messages, and is found by the run's id to be redacted with them. */
export function completedEventId(id: RunId): EventId {
  return `evt_${ulidOf(id)}`;
}
