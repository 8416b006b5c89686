import { conversationById } from "../conversations/rows.ts";
import { type ThreadQuery, threadQuerySchema } from "../conversations/types.ts";
import { messageResource } from "./resource.ts";
import { messagesOfConversation } from "./rows.ts";
import type { Message } from "./types.ts";
import { notFound } from "../kernel/errors.ts";
import type { Page } from "../kernel/fields.ts";
import type { Query } from "../operations/operation.ts";
import { mapPage, page } from "../operations/pagination.ts";

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
