import { defineEvent } from "../events/index.ts";
import { conversationSchema, type Conversation } from "./types.ts";

/** The data of `conversation.created`. */
export interface ConversationCreatedData {
  /** The new conversation. */
  readonly conversation: Conversation;
}

export const conversationCreated = defineEvent("conversation.created", "A conversation began.", {
  conversation: conversationSchema.describe("The new conversation."),
});

/** The data of `conversation.updated`. */
export interface ConversationUpdatedData {
  /** The conversation after the change. */
  readonly conversation: Conversation;
}

export const conversationUpdated = defineEvent(
  "conversation.updated",
  "The status, handler, assignee, labels, priority, metadata or suspected opt-out of a " +
    "conversation changed, or it was marked as read or unread. A new message does not publish " +
    "this event.",
  {
    conversation: conversationSchema.describe("The conversation after the change."),
  },
);

/** The data of `conversation.closed`. */
export interface ConversationClosedData {
  /** The closed conversation. */
  readonly conversation: Conversation;
}

export const conversationClosed = defineEvent("conversation.closed", "A conversation was closed.", {
  conversation: conversationSchema.describe("The closed conversation."),
});
