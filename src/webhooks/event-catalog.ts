/** Every event that the engine publishes, with its data. */
import { z } from "zod";
import {
  envelopeSchema,
  type EventConsumer,
  type EventDefinition,
  type EventType,
} from "../events/index.ts";
import { messageFailed, messageReceived, messageSent, messageUpdated } from "../messages/index.ts";
import {
  contactCreated,
  contactOptedIn,
  contactOptedOut,
  contactUpdated,
} from "../contacts/index.ts";
import {
  conversationClosed,
  conversationCreated,
  conversationUpdated,
} from "../conversations/index.ts";
import { agentRunCompleted, conversationHandoff } from "../agents/index.ts";
import { sentimentChanged } from "../sentiment/index.ts";
import { webhookDisabled } from "./events.ts";
import type { ids, Scope } from "../kernel/index.ts";

const definitions = [
  messageReceived,
  messageSent,
  messageUpdated,
  messageFailed,
  contactCreated,
  contactUpdated,
  contactOptedOut,
  contactOptedIn,
  conversationCreated,
  conversationUpdated,
  conversationClosed,
  conversationHandoff,
  agentRunCompleted,
  sentimentChanged,
  webhookDisabled,
] as const;

type Definition = (typeof definitions)[number];

/** Each type of event and its data. */
export type EventMap = {
  [D in Definition as D["type"]]: D extends EventDefinition<D["type"], infer Data> ? Data : never;
};

/** An event as it is stored, streamed and posted. */
export type Event<T extends EventType = EventType> = {
  [K in T]: { id: z.infer<typeof ids.event>; type: K; created_at: string; data: EventMap[K] };
}[T];

/** Returns the definition of an event type. */
export function definitionOf(type: EventType): EventDefinition {
  const found = definitions.find((each) => each.type === type);
  if (found === undefined) {
    throw new TypeError(`No module defines the event type ${type}. Add it to the event catalog.`);
  }
  return found;
}

/** Called after the commit that created the event. An error is logged and has no other effect. */
export type EventHandler<T extends EventType> = (
  event: Event<T>,
  scope: Scope,
) => void | Promise<void>;

/**
 * Called until it resolves once for each event. A call that throws, or takes longer than 10
 * seconds, is retried.
 */
export type ConsumerHandler<T extends EventType, Tx> = EventConsumer<Tx, Event<T>>;

export const eventSchema = z
  .discriminatedUnion("type", [
    envelopeSchema(messageReceived),
    envelopeSchema(messageSent),
    envelopeSchema(messageUpdated),
    envelopeSchema(messageFailed),
    envelopeSchema(contactCreated),
    envelopeSchema(contactUpdated),
    envelopeSchema(contactOptedOut),
    envelopeSchema(contactOptedIn),
    envelopeSchema(conversationCreated),
    envelopeSchema(conversationUpdated),
    envelopeSchema(conversationClosed),
    envelopeSchema(conversationHandoff),
    envelopeSchema(agentRunCompleted),
    envelopeSchema(sentimentChanged),
    envelopeSchema(webhookDisabled),
  ])
  .meta({ id: "Event" });
