import { createHash } from "node:crypto";
import {
  iso,
  ulidOf,
  type ContactId,
  type ConversationId,
  type EventId,
  type MessageId,
  type RunId,
} from "../kernel/index.ts";
import {
  integer,
  json,
  nullable,
  position,
  scoped,
  text,
  time,
  type RowOf,
  type Seen,
} from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { EventDefinition, EventEnvelope, EventType } from "./types.ts";

/** The log of events. `position` is the order in which their transactions committed. */
export const events = scoped("events", {
  id: text<EventId>(),
  position: position(),
  type: text<EventType>(),
  /**
   * Consumers handle the events of a conversation in order, or of a contact when there is no
   * conversation.
   */
  conversation_id: nullable(text<ConversationId>()),
  contact_id: nullable(text<ContactId>()),
  data: json<object>(),
  created_at: time(),
  /**
   * How often an erasure or a redaction has rewritten the event. The version of the row also counts
   * other writes, and the data may have nothing to remove.
   */
  rewrites: integer(),
});
export interface EventRow extends RowOf<typeof events> {}

export const eventById = events.byId.key("id");
export const eventsByPosition = events.acrossScopes.unique("by_position", ["position"]);
/** The events of one account and mode, in commit order. */
export const eventsOfAccount = events.index("by_account", ["position"]);
/** Erasures find the events of a contact through it. */
export const eventsOfContact = events.byId.index("by_contact", ["contact_id"], {
  where: { column: "contact_id", present: true },
});

/**
 * The id of the `message.received` event of a message. It is derived from the message id, so that a
 * redaction of the message finds the event.
 */
export function receivedEventId(id: MessageId): EventId {
  return `evt_${ulidOf(id)}`;
}

/**
 * The id of the `conversation.handoff` event of a run. The event may quote messages, so a redaction
 * must find it. The id has the time of the run id and bits from a hash of it.
 */
export function handoffEventId(id: RunId): EventId {
  const time = ulidOf(id).slice(0, 10);
  const bits = createHash("sha256").update(`handoff ${id}`).digest().subarray(0, 16);
  return `evt_${time}${Array.from(bits, (byte) => crockford.charAt(byte % 32)).join("")}`;
}

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The id of the `agent.run.completed` event of a run. The event may quote messages, so a redaction
 * must find it by the run id.
 */
export function completedEventId(id: RunId): EventId {
  return `evt_${ulidOf(id)}`;
}

/** The columns that the public form of an event shows. */
type ShownColumns = Pick<EventRow, "id" | "type" | "created_at" | "data">;

/**
 * Returns the public form of an event. The data of a row matches its type, because only
 * `appendEvent` writes events.
 */
export function eventResource({ id, type, created_at, data }: ShownColumns): EventEnvelope {
  return { id, type, created_at: iso(created_at), data };
}

/**
 * Returns the public form of an event for code of the host application. That code may change it, so
 * it gets its own copy of the data.
 */
export function ownEvent(row: ShownColumns): EventEnvelope {
  return structuredClone(eventResource(row));
}

/**
 * The subject of an event. Consumers keep the order within a conversation, or within a contact when
 * there is no conversation.
 */
interface Subject {
  readonly contact_id?: ContactId;
  readonly conversation_id?: ConversationId;
}

/** Writes an event in the transaction of the change that it reports. */
export function appendEvent<D extends object>(
  tx: Tx,
  { type }: EventDefinition<EventType, D>,
  data: NoInfer<D>,
  { contact_id, conversation_id }: Subject,
  id: EventId = tx.drawId("evt"),
): void {
  tx.insert(events, {
    id,
    // The storage assigns the position at commit.
    position: 0,
    type,
    conversation_id: conversation_id ?? null,
    contact_id: contact_id ?? null,
    data,
    created_at: tx.now,
    rewrites: 0,
  });
}

/** Writes what an erasure or a redaction leaves of an event. */
export function rewriteEvent(
  tx: Tx,
  event: Seen<EventRow>,
  changes: Partial<Pick<EventRow, "data" | "contact_id">>,
): Seen<EventRow> {
  return tx.update(events, event, { ...changes, rewrites: event.rewrites + 1 });
}
