import { createHash } from "node:crypto";
import {
  type AccountId,
  type ContactId,
  type ConversationId,
  type EventId,
  type MessageId,
  type RunId,
  ulidOf,
} from "../kernel/ids.ts";
import {
  collection,
  json,
  nullable,
  position,
  type Seen,
  text,
  time,
} from "../ports/collection.ts";
import type { Mode, Scope } from "../kernel/scope.ts";
import type { Reads } from "../store/reads.ts";
import type { Tx } from "../store/transaction.ts";
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
/** Not exported: an id alone is anybody's. `eventOf` asks for whom. */
const eventById = events.key("id");
export const eventsByPosition = events.unique("by_position", ["position"]);
/** One account's events in one mode, in the order of commits. */
export const eventsOfAccount = events.index("by_account", ["account_id", "mode", "position"]);
/** What an erasure goes through. */
export const eventsOfContact = events.index("by_contact", ["contact_id"], {
  where: { column: "contact_id", present: true },
});

/** The event with this id, if it is of this account and mode. */
export async function eventOf(
  reads: Pick<Reads | Tx, "get">,
  { account_id, mode }: Scope,
  id: string,
): Promise<Seen<EventRow> | undefined> {
  const event = await reads.get(eventById, [id]);
  return event?.account_id === account_id && event.mode === mode ? event : undefined;
}

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
