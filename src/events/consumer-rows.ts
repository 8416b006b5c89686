/**
 * A consumer is a place in the log of events: what lies before it was looked at. What of that is for the consumer and not handled yet
 * has a row of its own, which goes in the very transaction in which the handler writes.
 */
import type { AccountId, EventId } from "../kernel/ids.ts";
import { collection, integer, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { ConsumerKey } from "./consumer-types.ts";

export interface ConsumerRow {
  readonly name: string;
  /** Of the last event that was looked at. */
  readonly position: number;
  readonly moved_at: number;
}

export const consumers = collection<ConsumerRow>("consumers", {
  name: text,
  position: integer,
  moved_at: time,
});
export const consumerByName = consumers.key("name");

export interface ConsumerEventRow extends ConsumerKey {
  /** The event's in the log; the order within a key. */
  readonly position: number;
  readonly event_id: EventId;
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly failures: number;
  /** Not before this time; null: at once. */
  readonly retry_at: number | null;
  readonly error: string | null;
  readonly parked_at: number | null;
}

export const consumerEvents = collection<ConsumerEventRow>("consumer_events", {
  consumer: text,
  key: text,
  position: integer,
  event_id: text,
  account_id: text,
  mode: text,
  failures: integer,
  retry_at: nullable(time),
  error: nullable(text),
  parked_at: nullable(time),
});
export const consumerEventsOfKey = consumerEvents.key("consumer", "key", "position");
/** What holds an event back from being removed for its age. */
export const consumerEventOf = consumerEvents.unique("by_event", ["consumer", "event_id"]);
export const parkedEvents = consumerEvents.index("parked", ["consumer", "parked_at"], {
  where: { column: "parked_at", present: true },
});
