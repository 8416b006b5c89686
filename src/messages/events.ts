import * as z from "zod";
import { defineEvent, type EventDefinition } from "../events/index.ts";
import { type ContactReference, contactReferenceSchema } from "../contacts/index.ts";
import {
  type Channel,
  channelSchema,
  type ContactId,
  type ConversationId,
  ids,
  type MessageId,
  type MessageStatus,
  messageStatusSchema,
  timestamp,
} from "../kernel/index.ts";
import type { Media } from "../ports/index.ts";
import { mediaSchema, type MessageError, messageErrorSchema } from "./types.ts";

/** A message came in. */
export interface MessageReceivedData {
  /** The id of the message. */
  readonly message_id: MessageId;
  /** The contact that the message is from. */
  readonly contact: ContactReference;
  /** The text. Empty after redaction. */
  readonly body: string;
  /** The channel that the message came on. */
  readonly channel: Channel;
  /** The conversation that the message belongs to. */
  readonly conversation_id: ConversationId;
  /** The files of the message. Empty after redaction. */
  readonly media: Media[];
}

export const messageReceivedDataSchema = z
  .strictObject({
    message_id: ids.message.describe("The id of the message."),
    contact: contactReferenceSchema.describe("The contact that the message is from."),
    body: z.string().describe("The text. Empty after redaction."),
    channel: channelSchema.describe("The channel that the message came on."),
    conversation_id: ids.conversation.describe("The conversation that the message belongs to."),
    media: z.array(mediaSchema).describe("The files of the message. Empty after redaction."),
  })
  .describe("A message came in.");

export const messageReceived: EventDefinition<"message.received", MessageReceivedData> =
  defineEvent("message.received", messageReceivedDataSchema);

/** An outbound message was delivered. */
export interface MessageSentData {
  /** The id of the message. */
  readonly message_id: MessageId;
  /** The contact that the message was sent to. */
  readonly contact: ContactReference;
  /** The address that the message was sent to. */
  readonly to: string;
  /** The channel that the message was sent on. */
  readonly channel: Channel;
  /** `read` if the carrier reported that first. */
  readonly status: "delivered" | "read";
  /** The conversation that the message belongs to. */
  readonly conversation_id: ConversationId;
  /**
   * When the message was delivered: the earliest time that the carrier's answer or a receipt
   * proves.
   */
  readonly delivered_at: string;
}

export const messageSentDataSchema = z
  .strictObject({
    message_id: ids.message.describe("The id of the message."),
    contact: contactReferenceSchema.describe("The contact that the message was sent to."),
    to: z.string().describe("The address that the message was sent to."),
    channel: channelSchema.describe("The channel that the message was sent on."),
    status: z.enum(["delivered", "read"]).describe("`read` if the carrier reported that first."),
    conversation_id: ids.conversation.describe("The conversation that the message belongs to."),
    delivered_at: timestamp.describe(
      "When the message was delivered: the earliest time that the carrier's answer or a receipt " +
        "proves.",
    ),
  })
  .describe("An outbound message was delivered.");

export const messageSent: EventDefinition<"message.sent", MessageSentData> = defineEvent(
  "message.sent",
  messageSentDataSchema,
);

/** The state of a message. The body stays out, so that redaction has one place to clear. */
const messageState = {
  message_id: ids.message.describe("The id of the message."),
  contact_id: ids.contact.describe("The contact that the message is to."),
  conversation_id: ids.conversation.describe("The conversation that the message belongs to."),
  to: z.string().describe("The address that the message is to."),
  channel: channelSchema.describe("The channel that carries the message."),
  status: messageStatusSchema.describe("The new status."),
  error: messageErrorSchema
    .nullable()
    .describe(
      "Why the message failed, expired, was not delivered or is ambiguous. Otherwise null.",
    ),
};

/** The state of a message, in an event. */
interface MessageStateData {
  /** The id of the message. */
  readonly message_id: MessageId;
  /** The contact that the message is to. */
  readonly contact_id: ContactId;
  /** The conversation that the message belongs to. */
  readonly conversation_id: ConversationId;
  /** The address that the message is to. */
  readonly to: string;
  /** The channel that carries the message. */
  readonly channel: Channel;
  /** The new status. */
  readonly status: MessageStatus;
  /** Why the message failed, expired, was not delivered or is ambiguous. Otherwise null. */
  readonly error: MessageError | null;
}

/**
 * A message failed, expired or was not delivered. Published once for each message. A later receipt
 * can still deliver it.
 */
export interface MessageFailedData extends MessageStateData {}

export const messageFailedDataSchema = z
  .strictObject(messageState)
  .describe(
    "A message failed, expired or was not delivered. Published once for each message. A later " +
      "receipt can still deliver it.",
  );

export const messageFailed: EventDefinition<"message.failed", MessageFailedData> = defineEvent(
  "message.failed",
  messageFailedDataSchema,
);

/** A message's status changed. */
export interface MessageUpdatedData extends MessageStateData {
  /** The status before the change. */
  readonly previous_status: MessageStatus;
}

export const messageUpdatedDataSchema = z
  .strictObject({
    ...messageState,
    previous_status: messageStatusSchema.describe("The status before the change."),
  })
  .describe("A message's status changed.");

export const messageUpdated: EventDefinition<"message.updated", MessageUpdatedData> = defineEvent(
  "message.updated",
  messageUpdatedDataSchema,
);

/** The content of a message was removed. */
export interface MessageRedactedData {
  /** The id of the message. */
  readonly message_id: MessageId;
  /** The contact that the message is from or to. */
  readonly contact_id: ContactId;
  /** The conversation that the message belongs to. */
  readonly conversation_id: ConversationId;
  /** The channel that the message came or was sent on. */
  readonly channel: Channel;
}

export const messageRedactedDataSchema = z
  .strictObject({
    message_id: ids.message.describe("The id of the message."),
    contact_id: ids.contact.describe("The contact that the message is from or to."),
    conversation_id: ids.conversation.describe("The conversation that the message belongs to."),
    channel: channelSchema.describe("The channel that the message came or was sent on."),
  })
  .describe("The content of a message was removed.");

export const messageRedacted: EventDefinition<"message.redacted", MessageRedactedData> =
  defineEvent("message.redacted", messageRedactedDataSchema);
