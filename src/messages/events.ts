import * as z from "zod";
import { contactReferenceSchema, type ContactReference } from "../contacts/index.ts";
import { defineEvent } from "../events/index.ts";
import {
  channelSchema,
  ids,
  messageStatusSchema,
  timestamp,
  type Channel,
  type ContactId,
  type ConversationId,
  type MessageId,
  type MessageStatus,
} from "../kernel/index.ts";
import type { Media } from "../ports/index.ts";
import { mediaSchema, messageErrorSchema, type MessageError } from "./types.ts";

/** The data of `message.received`. */
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

export const messageReceived = defineEvent("message.received", {
  message_id: ids.message,
  contact: contactReferenceSchema,
  body: z.string(),
  channel: channelSchema,
  conversation_id: ids.conversation,
  media: z.array(mediaSchema),
});

/** The data of `message.sent`. */
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

export const messageSent = defineEvent("message.sent", {
  message_id: ids.message,
  contact: contactReferenceSchema,
  to: z.string(),
  channel: channelSchema,
  status: z.enum(["delivered", "read"]),
  conversation_id: ids.conversation,
  delivered_at: timestamp,
});

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

/** The data of `message.failed`. */
export interface MessageFailedData extends MessageStateData {}

export const messageFailed = defineEvent("message.failed", messageState);

/** The data of `message.updated`. */
export interface MessageUpdatedData extends MessageStateData {
  /** The status before the change. */
  readonly previous_status: MessageStatus;
}

export const messageUpdated = defineEvent("message.updated", {
  ...messageState,
  previous_status: messageStatusSchema,
});

/** The data of `message.redacted`. */
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

export const messageRedacted = defineEvent("message.redacted", {
  message_id: ids.message,
  contact_id: ids.contact,
  conversation_id: ids.conversation,
  channel: channelSchema,
});
