import { defineEvent } from "../events/index.ts";
import { conversationSchema, type Conversation } from "./types.ts";

/** The data of `conversation.created`. */
export interface ConversationCreatedData {
  /** The new conversation. */
  readonly conversation: Conversation;
}

export const conversationCreated = defineEvent("conversation.created", {
  conversation: conversationSchema,
});

/** The data of `conversation.updated`. */
export interface ConversationUpdatedData {
  /** The conversation after the change. */
  readonly conversation: Conversation;
}

export const conversationUpdated = defineEvent("conversation.updated", {
  conversation: conversationSchema,
});

/** The data of `conversation.closed`. */
export interface ConversationClosedData {
  /** The closed conversation. */
  readonly conversation: Conversation;
}

export const conversationClosed = defineEvent("conversation.closed", {
  conversation: conversationSchema,
});
