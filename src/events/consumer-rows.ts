/**
 * A consumer is a place in the log of events: what lies before it was looked at. What of that is for the consumer and not handled yet
 * has a row of its own, which goes in the very transaction in which the handler writes.
 */
import type { AccountId, EventId, Mode } from "../kernel/index.ts";
import { collection, integer, nullable, type RowOf, text, time } from "../ports/index.ts";

export const consumers = collection("consumers", {
  name: text(),
  /** Of the last event that was looked at. */
  position: integer(),
  moved_at: time(),
});
export interface ConsumerRow extends RowOf<typeof consumers> {}

export const consumerByName = consumers.key("name");

export const consumerEvents = collection("consumer_events", {
  consumer: text(),
  /** The conversation that the event is about, else the contact, else the event itself. */
  key: text(),
  /** The event's in the log; the order within a key. */
  position: integer(),
  event_id: text<EventId>(),
  account_id: text<AccountId>(),
  mode: text<Mode>(),
  failures: integer(),
  /** Not before this time; null: at once. */
  retry_at: nullable(time()),
  error: nullable(text()),
  parked_at: nullable(time()),
});
export interface ConsumerEventRow extends RowOf<typeof consumerEvents> {}

export const consumerEventsOfKey = consumerEvents.key("consumer", "key", "position");
/** What holds an event back from being removed for its age. */
export const consumerEventOf = consumerEvents.unique("by_event", ["consumer", "event_id"]);
export const parkedEvents = consumerEvents.index("parked", ["consumer", "parked_at"], {
  where: { column: "parked_at", present: true },
});
