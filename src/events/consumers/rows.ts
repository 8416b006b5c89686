/**
 * A consumer has a position in the log of events. Events up to that position were read. Each event
 * that the consumer wants and has not handled yet has a row, which is removed in the transaction in
 * which the handler writes.
 */
import type { AccountId, EventId, Mode } from "../../kernel/index.ts";
import { collection, integer, nullable, text, time, type RowOf } from "../../ports/index.ts";

export const consumers = collection("consumers", {
  name: text(),
  /** The position of the last event that was read. */
  position: integer(),
  moved_at: time(),
});
export interface ConsumerRow extends RowOf<typeof consumers> {}

export const consumerByName = consumers.key("name");
/** The maximum number of consumers. Erasures and removals of old events read all of them. */
export const maxConsumers = 1_000;

export const consumerEvents = collection("consumer_events", {
  consumer: text(),
  /** The id of the conversation, otherwise of the contact, otherwise of the event. */
  key: text(),
  /** The position of the event in the log. It defines the order within a key. */
  position: integer(),
  event_id: text<EventId>(),
  account_id: text<AccountId>(),
  mode: text<Mode>(),
  failures: integer(),
  /** The earliest time of the next call. Null: now. */
  retry_at: nullable(time()),
  error: nullable(text()),
  parked_at: nullable(time()),
});
export interface ConsumerEventRow extends RowOf<typeof consumerEvents> {}

export const consumerEventsOfKey = consumerEvents.key("consumer", "key", "position");
/** Finds the rows that keep an event from being removed for its age. */
export const consumerEventOf = consumerEvents.unique("by_event", ["consumer", "event_id"]);
export const parkedEvents = consumerEvents.index("parked", ["consumer", "parked_at"], {
  where: { column: "parked_at", present: true },
});
