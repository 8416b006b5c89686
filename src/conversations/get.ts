import { conversationById } from "./rows.ts";
import type { Conversation } from "./types.ts";
import { type ById, byIdSchema, notFound } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { showConversations } from "./show.ts";

export const getConversation: Query<ById, Conversation> = {
  kind: "query",
  name: "conversations.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const row = await reads.get(conversationById, [id]);
    const [conversation] = row === undefined ? [] : await showConversations(reads, [row]);
    if (conversation === undefined) throw notFound("conversation");
    return conversation;
  },
};
