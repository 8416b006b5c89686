import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { contactReferenceSchema } from "../contacts/index.ts";
import { channelSchema, ids, timestamp } from "../kernel/index.ts";
import { mediaSchema, messageErrorSchema, messageStatusSchema } from "./types.ts";

/** The state of a message. The body stays out, so that redaction has one place to clear. */
const messageState = {
  message_id: ids.message,
  contact_id: ids.contact,
  conversation_id: ids.conversation,
  to: z.string(),
  channel: channelSchema,
  status: messageStatusSchema,
  error: messageErrorSchema.nullable(),
};

export const messageReceived = defineEvent(
  "message.received",
  z
    .strictObject({
      message_id: ids.message,
      contact: contactReferenceSchema,
      body: z.string(),
      channel: channelSchema,
      conversation_id: ids.conversation,
      media: z.array(mediaSchema),
    })
    .describe("A message came in."),
);

export const messageSent = defineEvent(
  "message.sent",
  z
    .strictObject({
      message_id: ids.message,
      contact: contactReferenceSchema,
      to: z.string(),
      channel: channelSchema,
      status: z.enum(["delivered", "read"]),
      conversation_id: ids.conversation,
      delivered_at: timestamp,
    })
    .describe("An outbound message was delivered."),
);

export const messageUpdated = defineEvent(
  "message.updated",
  z
    .strictObject({ ...messageState, previous_status: messageStatusSchema })
    .describe("A message's status changed."),
);

export const messageFailed = defineEvent(
  "message.failed",
  z
    .strictObject(messageState)
    .describe(
      "A message failed, expired or was not delivered. A later receipt can still deliver it.",
    ),
);
