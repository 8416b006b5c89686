import type { AccountId, ContactId, ConversationId, EventId, MessageId } from "../../ids.ts";
import { collection, json, nullable, position, text, time } from "../../ports/collection.ts";
import type { Mode } from "../../scope.ts";
import type { EventType } from "./types.ts";

/** The log of events. `position` is their order: that of the commits that brought them. */
export interface EventRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: EventId;
  readonly position: number;
  readonly type: EventType;
  /** What consumers keep in order: the conversation, else the contact. */
  readonly conversation_id: ConversationId | null;
  readonly contact_id: ContactId | null;
  readonly data: object;
  readonly created_at: number;
}

export const events = collection<EventRow>("events", {
  account_id: text,
  mode: text,
  id: text,
  position,
  type: text,
  conversation_id: nullable(text),
  contact_id: nullable(text),
  data: json,
  created_at: time,
});
export const eventById = events.key("account_id", "mode", "id");
export const eventsByPosition = events.unique("by_position", ["position"]);

/** `message.received` is the one event that has a message's words, and is found by the message's id to be redacted with it. */
export function receivedEventId(id: MessageId): EventId {
  return `evt_${id.slice("msg_".length)}`;
}
