import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { type Conversation, conversationSchema } from "./types.ts";

/** A conversation began. */
export interface ConversationCreatedData {
  /** The new conversation. */
  readonly conversation: Conversation;
}

export const conversationCreatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The new conversation.") })
  .describe("A conversation began.");

export const conversationCreated = defineEvent(
  "conversation.created",
  conversationCreatedDataSchema,
);

/**
 * The status, handler, assignee, labels, priority, metadata or suspected opt-out of a conversation
 * changed.
 */
export interface ConversationUpdatedData {
  /** The conversation after the change. */
  readonly conversation: Conversation;
}

export const conversationUpdatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The conversation after the change.") })
  .describe(
    "The status, handler, assignee, labels, priority, metadata or suspected opt-out of a " +
      "conversation changed.",
  );

export const conversationUpdated = defineEvent(
  "conversation.updated",
  conversationUpdatedDataSchema,
);

/** A conversation was closed. */
export interface ConversationClosedData {
  /** The closed conversation. */
  readonly conversation: Conversation;
}

export const conversationClosedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The closed conversation.") })
  .describe("A conversation was closed.");

export const conversationClosed = defineEvent("conversation.closed", conversationClosedDataSchema);
