/** What happened, told to handlers, streams and webhooks alike. */
import { z } from "zod";
import { consentSourceSchema } from "../contacts/consent-types.ts";
import { contactReferenceSchema, contactSchema } from "../contacts/types.ts";
import { conversationSchema } from "../conversations/types.ts";
import { channelSchema, ids, mediumSchema, pageFields, timestamp } from "../kernel/fields.ts";
import { mediaSchema, messageErrorSchema, messageStatusSchema } from "../messages/types.ts";
import { runSchema } from "../agents/runs/types.ts";
import { sentimentSchema } from "../contacts/sentiment-types.ts";

const consentChange = z.strictObject({
  contact: contactReferenceSchema,
  medium: mediumSchema,
  address: z.string(),
  sender: z.string().nullable().meta({ description: "The sender that it is about; null: all." }),
  source: consentSourceSchema,
  message_id: ids.message.nullable(),
});

/** Where a message stands; its words are in the message alone, so that they are redacted in one place. */
const messageState = {
  message_id: ids.message,
  contact_id: ids.contact,
  conversation_id: ids.conversation,
  to: z.string(),
  channel: channelSchema,
  status: messageStatusSchema,
  error: messageErrorSchema.nullable(),
};

/** The data of each type of event. */
export const eventDataSchemas = {
  "message.received": z
    .strictObject({
      message_id: ids.message,
      contact: contactReferenceSchema,
      body: z.string(),
      channel: channelSchema,
      conversation_id: ids.conversation,
      media: z.array(mediaSchema),
    })
    .meta({ description: "A message came in." }),
  "message.sent": z
    .strictObject({
      message_id: ids.message,
      contact: contactReferenceSchema,
      to: z.string(),
      channel: channelSchema,
      status: z.enum(["delivered", "read"]),
      conversation_id: ids.conversation,
      delivered_at: timestamp,
    })
    .meta({ description: "An outbound message was delivered." }),
  "message.updated": z
    .strictObject({ ...messageState, previous_status: messageStatusSchema })
    .meta({ description: "A message's status changed." }),
  "message.failed": z.strictObject(messageState).meta({
    description:
      "A message failed, expired or was not delivered. A later receipt can still deliver it.",
  }),
  "contact.created": z.strictObject({ contact: contactSchema }),
  "contact.updated": z.strictObject({ contact: contactSchema }),
  "contact.opted_out": consentChange,
  "contact.opted_in": consentChange,
  "conversation.created": z.strictObject({ conversation: conversationSchema }),
  "conversation.updated": z.strictObject({ conversation: conversationSchema }),
  "conversation.closed": z.strictObject({ conversation: conversationSchema }),
  "conversation.handoff": z
    .strictObject({
      conversation_id: ids.conversation,
      contact: contactReferenceSchema,
      agent_id: ids.agent.nullable(),
      reason: z.string(),
      rule: z.string().nullable(),
      summary: z.string(),
      last_message_ids: z.array(ids.message),
      sentiment: sentimentSchema.nullable(),
    })
    .meta({ description: "AI passed a conversation on to people." }),
  "sentiment.changed": z
    .strictObject({
      contact: contactReferenceSchema,
      from: sentimentSchema,
      to: sentimentSchema,
      message_id: ids.message,
    })
    .meta({ description: "A contact's sentiment shifted to another label." }),
  "agent.run.completed": z.strictObject({ run: runSchema }),
  "webhook.disabled": z.strictObject({
    webhook_id: ids.webhook,
    url: z.string(),
    reason: z.string(),
  }),
} as const;

type DataSchemas = typeof eventDataSchemas;
export type EventType = keyof DataSchemas;

/** Each type of event and its data. */
export type EventMap = { [T in EventType]: z.infer<DataSchemas[T]> };

export const eventTypes = Object.keys(eventDataSchemas) as EventType[];
export const eventTypeSchema = z.enum(eventTypes).meta({ id: "EventType" });

/** An event as it is stored, streamed and posted. */
export type Event<T extends EventType = EventType> = {
  [K in T]: { id: z.infer<typeof ids.event>; type: K; created_at: string; data: EventMap[K] };
}[T];

const envelope = <const T extends EventType, D extends z.ZodType>(type: T, data: D) =>
  z.strictObject({ id: ids.event, type: z.literal(type), created_at: timestamp, data });

export const eventSchema = z
  .discriminatedUnion("type", [
    envelope("message.received", eventDataSchemas["message.received"]),
    envelope("message.sent", eventDataSchemas["message.sent"]),
    envelope("message.updated", eventDataSchemas["message.updated"]),
    envelope("message.failed", eventDataSchemas["message.failed"]),
    envelope("contact.created", eventDataSchemas["contact.created"]),
    envelope("contact.updated", eventDataSchemas["contact.updated"]),
    envelope("contact.opted_out", eventDataSchemas["contact.opted_out"]),
    envelope("contact.opted_in", eventDataSchemas["contact.opted_in"]),
    envelope("conversation.created", eventDataSchemas["conversation.created"]),
    envelope("conversation.updated", eventDataSchemas["conversation.updated"]),
    envelope("conversation.closed", eventDataSchemas["conversation.closed"]),
    envelope("conversation.handoff", eventDataSchemas["conversation.handoff"]),
    envelope("sentiment.changed", eventDataSchemas["sentiment.changed"]),
    envelope("agent.run.completed", eventDataSchemas["agent.run.completed"]),
    envelope("webhook.disabled", eventDataSchemas["webhook.disabled"]),
  ])
  .meta({ id: "Event" });

export const listEventsSchema = z.strictObject({
  ...pageFields,
  type: eventTypeSchema.optional(),
});
export interface ListEvents extends z.infer<typeof listEventsSchema> {}
