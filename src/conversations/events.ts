import * as z from "zod";
import { defineEvent, type EventDefinition } from "../events/index.ts";
import { type Conversation, conversationSchema } from "./types.ts";

/** A conversation began. */
export interface ConversationCreatedData {
  /** The new conversation. */
  readonly conversation: Conversation;
}

export const conversationCreatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The new conversation.") })
  .describe("A conversation began.");

export const conversationCreated: EventDefinition<"conversation.created", ConversationCreatedData> =
  defineEvent("conversation.created", conversationCreatedDataSchema);

/**
 * A conversation's status, handler, assignee, labels, priority, metadata or suspected opt-out
 * changed, or it was marked as read or unread. A new message does not publish this event.
 */
export interface ConversationUpdatedData {
  /** The conversation after the change. */
  readonly conversation: Conversation;
}

export const conversationUpdatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The conversation after the change.") })
  .describe(
    "A conversation's status, handler, assignee, labels, priority, metadata or suspected opt-out " +
      "changed, or it was marked as read or unread. A new message does not publish this event.",
  );

export const conversationUpdated: EventDefinition<"conversation.updated", ConversationUpdatedData> =
  defineEvent("conversation.updated", conversationUpdatedDataSchema);

/** A conversation was closed. */
export interface ConversationClosedData {
  /** The closed conversation. */
  readonly conversation: Conversation;
}

export const conversationClosedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The closed conversation.") })
  .describe("A conversation was closed.");

export const conversationClosed: EventDefinition<"conversation.closed", ConversationClosedData> =
  defineEvent("conversation.closed", conversationClosedDataSchema);
