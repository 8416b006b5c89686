import { conversationById, type ThreadQuery, threadQuerySchema } from "../conversations/index.ts";
import { messageResource } from "./resource.ts";
import { messagesOfConversation } from "./rows.ts";
import type { Message } from "./types.ts";
import { notFound, type Page } from "../kernel/index.ts";
import { mapPage, page, type Query } from "../operations/index.ts";

/** A conversation's thread, from its end. */
export const listConversationMessages: Query<ThreadQuery, Page<Message>> = {
  kind: "query",
  name: "conversations.messages",
  input: () => threadQuerySchema,
  async run(reads, { id, ...input }, call) {
    if ((await reads.get(conversationById, [id])) === undefined) {
      throw notFound("conversation");
    }
    const walk = {
      index: messagesOfConversation,
      prefix: [id],
      order: "descending",
      operation: "conversations.messages",
      filters: { id },
      input,
    } as const;
    return mapPage(await page(reads, walk, call), messageResource);
  },
};
