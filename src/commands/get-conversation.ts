import { conversationById } from "../domain/conversations/rows.ts";
import type { Conversation } from "../domain/conversations/types.ts";
import { notFound } from "../errors.ts";
import { type ById, byIdSchema } from "../fields.ts";
import type { Query } from "../operation.ts";
import { showConversations } from "./steps/show-conversation.ts";

export const getConversation: Query<ById, Conversation> = {
  kind: "query",
  name: "conversations.get",
  input: () => byIdSchema,
  async run(reads, { id }, { scope }) {
    const row = await reads.get(conversationById, [scope.account_id, scope.mode, id]);
    const [conversation] = row === undefined ? [] : await showConversations(reads, [row]);
    if (conversation === undefined) throw notFound("conversation");
    return conversation;
  },
};
