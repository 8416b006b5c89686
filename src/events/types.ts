/**
 * The common fields of all events. Each module defines the data of its own events in its
 * `events.ts`.
 */
import * as z from "zod";
import {
  ids,
  option,
  pageFields,
  show,
  suggestion,
  timestamp,
  type EventId,
  type PageQuery,
} from "../kernel/index.ts";

// The module that publishes an event defines its data with `defineEvent`.
/** All event types. */
export const eventTypes = [
  "message.received",
  "message.sent",
  "message.updated",
  "message.failed",
  "message.redacted",
  "contact.created",
  "contact.updated",
  "contact.erased",
  "contact.opted_out",
  "contact.opted_in",
  "conversation.created",
  "conversation.updated",
  "conversation.closed",
  "conversation.handoff",
  "sentiment.changed",
  "agent.run.awaiting_approval",
  "agent.run.approval_decided",
  "agent.run.completed",
  "webhook.disabled",
] as const;
/** The type of an event, such as `message.received`. */
export type EventType = (typeof eventTypes)[number];
export const eventTypeSchema = z.enum(eventTypes, { error: wrongType }).meta({ id: "EventType" });

/** An event type that the host application passes in process. */
export const eventTypeOption = option<EventType>(
  "an event type",
  (given) => eventTypes.some((type) => type === given),
  {
    isQuoted: true,
    advice: adviceOrList,
  },
);

/** Makes the error of a field. A missing field has the standard error. */
function wrongType({ input }: { readonly input?: unknown }): string | undefined {
  if (input === undefined) return undefined;
  return `must be an event type, got ${show(input)}${adviceOrList(input)}`;
}

/** Returns what to use instead of a wrong event type, or all types, as further sentences. */
function adviceOrList(given: unknown): string {
  const list = `. The event types are ${eventTypes.join(", ")}.`;
  return adviceForType(given, eventTypes) || list;
}

/** Returns what to use instead of a wrong event type, as further sentences. "" if it knows none. */
export function adviceForType(given: unknown, known: readonly string[]): string {
  if (given === "message.delivered") {
    return '. Use "message.sent": it is published when a message is delivered.';
  }
  if (typeof given !== "string") return "";
  if (/^message\.(?:scheduled|queued|sending|read|undelivered|expired|canceled)$/.test(given)) {
    return '. Use "message.updated": it is published at each change of the status of a message.';
  }
  return suggestion(given, known);
}

/** An event of one type or of any, as it is stored, streamed and sent to webhooks. */
export interface EventEnvelope<T extends EventType = EventType, Data extends object = object> {
  /** The id of the event. Webhooks get it as `webhook-id`. Use it to skip repeated deliveries. */
  readonly id: EventId;
  /** What happened. It decides which fields `data` has. */
  readonly type: T;
  /** When it happened. */
  readonly created_at: string;
  /** The facts of the event, as they were when it happened. */
  readonly data: Data;
}

/** An event type and the schema of its data. `EventMap` says when it is published. */
export interface EventDefinition<T extends EventType = EventType, D extends object = object> {
  readonly type: T;
  readonly data: z.ZodType<D>;
}

/** Defines an event type and the fields of its data. */
export function defineEvent<const T extends EventType, S extends z.ZodRawShape>(
  type: T,
  fields: S,
) {
  const id = `${eventTypeName(type)}Data`;
  return { type, data: z.strictObject(fields).meta({ id }) };
}

/** Returns the name of an event type in PascalCase: `AgentRunCompleted`. */
export function eventTypeName(type: EventType): string {
  return type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the name of the schema of an event type in OpenAPI: `AgentRunCompletedEvent`. */
export const eventSchemaId = (type: EventType): string => `${eventTypeName(type)}Event`;

/** Returns the schema of an event of one type. */
export function envelopeSchema<const T extends EventType, D extends object>({
  type,
  data,
}: EventDefinition<T, D>) {
  return z
    .strictObject({
      id: ids.event,
      type: z.literal(type),
      created_at: timestamp,
      data,
    })
    .meta({ id: eventSchemaId(type), interface: "EventEnvelope" });
}

/** Filters of a list of events. */
export interface ListEvents extends PageQuery {
  /** Only events of this type. */
  readonly type?: EventType | undefined;
}

export const listEventsSchema = z
  .strictObject({ ...pageFields, type: eventTypeSchema.optional() })
  .meta({ interface: "ListEvents" });
