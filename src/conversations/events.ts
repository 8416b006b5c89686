import * as z from "zod";
import { defineEvent, type EventDefinition } from "../events/index.ts";
import { conversationSchema, type Conversation } from "./types.ts";

/** The data of `conversation.created`. */
export interface ConversationCreatedData {
  /** The new conversation. */
  readonly conversation: Conversation;
}

export const conversationCreatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The new conversation.") })
  .meta({ id: "ConversationCreatedData", description: "The data of `conversation.created`." });

export const conversationCreated: EventDefinition<"conversation.created", ConversationCreatedData> =
  defineEvent("conversation.created", "A conversation began.", conversationCreatedDataSchema);

/** The data of `conversation.updated`. */
export interface ConversationUpdatedData {
  /** The conversation after the change. */
  readonly conversation: Conversation;
}

export const conversationUpdatedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The conversation after the change.") })
  .meta({ id: "ConversationUpdatedData", description: "The data of `conversation.updated`." });

export const conversationUpdated: EventDefinition<"conversation.updated", ConversationUpdatedData> =
  defineEvent(
    "conversation.updated",
    "The status, handler, assignee, labels, priority, metadata or suspected opt-out of a " +
      "conversation changed, or it was marked as read or unread. A new message does not publish " +
      "this event.",
    conversationUpdatedDataSchema,
  );

/** The data of `conversation.closed`. */
export interface ConversationClosedData {
  /** The closed conversation. */
  readonly conversation: Conversation;
}

export const conversationClosedDataSchema = z
  .strictObject({ conversation: conversationSchema.describe("The closed conversation.") })
  .meta({ id: "ConversationClosedData", description: "The data of `conversation.closed`." });

export const conversationClosed: EventDefinition<"conversation.closed", ConversationClosedData> =
  defineEvent("conversation.closed", "A conversation was closed.", conversationClosedDataSchema);
