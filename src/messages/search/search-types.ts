import * as z from "zod";
import {
  conversationSchema,
  inboxFilterFields,
  type Conversation,
  type InboxFilters,
} from "../../conversations/index.ts";
import { queryInteger, text } from "../../kernel/index.ts";
import { messageSchema, type Message } from "../types.ts";

/** A search of the inbox, in all conversations or in those that pass the filters. */
export interface SearchConversations extends InboxFilters {
  /**
   * Words, prefixes of words, a prefix of a phone number, or a label. Up to 200 characters. Only
   * the first 8 words count.
   */
  readonly q: string;
  /** The maximum number of conversations, up to 100. By default 20. */
  readonly limit?: number | undefined;
}

export const searchConversationsSchema = z
  .strictObject({
    ...inboxFilterFields,
    q: text(200).min(1),
    limit: queryInteger(1, 100).optional(),
  })
  .meta({ interface: "SearchConversations" });

/** A conversation that a search found. */
export interface ConversationMatch {
  /** The conversation. */
  readonly conversation: Conversation;
  /**
   * The newest message of the conversation that the search found. Null if the contact or a label
   * matches and no message does.
   */
  readonly message: Message | null;
}

export const conversationMatchSchema = z
  .strictObject({
    conversation: conversationSchema,
    message: messageSchema.nullable(),
  })
  .meta({ id: "ConversationMatch" });
