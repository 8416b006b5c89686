/**
 * The common fields of all events. Each module defines the data of its own events in its
 * `events.ts`.
 */
import { z } from "zod";
import { ids, pageFields, timestamp } from "../kernel/index.ts";

/** The event types. A module defines the data of each with `defineEvent`. */
export const eventTypes = [
  "message.received",
  "message.sent",
  "message.updated",
  "message.failed",
  "contact.created",
  "contact.updated",
  "contact.opted_out",
  "contact.opted_in",
  "conversation.created",
  "conversation.updated",
  "conversation.closed",
  "conversation.handoff",
  "sentiment.changed",
  "agent.run.completed",
  "webhook.disabled",
] as const;
export type EventType = (typeof eventTypes)[number];
export const eventTypeSchema = z.enum(eventTypes).meta({ id: "EventType" });

/** An event of any type, as it is stored, streamed and sent to webhooks. */
export interface AnyEvent {
  readonly id: z.infer<typeof ids.event>;
  readonly type: EventType;
  readonly created_at: string;
  readonly data: object;
}

/** An event type and the schema of its data. */
export interface EventDefinition<T extends EventType = EventType, D extends object = object> {
  readonly type: T;
  readonly data: z.ZodType<D>;
}

export function defineEvent<const T extends EventType, D extends object>(
  type: T,
  data: z.ZodType<D>,
): EventDefinition<T, D> {
  return { type, data };
}

/** Returns the schema of an event of one type. */
export function envelopeSchema<const T extends EventType, D extends object>({
  type,
  data,
}: EventDefinition<T, D>) {
  return z.strictObject({ id: ids.event, type: z.literal(type), created_at: timestamp, data });
}

export const listEventsSchema = z.strictObject({
  ...pageFields,
  type: eventTypeSchema.optional(),
});
export interface ListEvents extends z.infer<typeof listEventsSchema> {}
