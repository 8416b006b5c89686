import { type Conversation } from "./types.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { findOwnConversation } from "./change.ts";
import { showConversation } from "./show.ts";
import { writeConversation } from "./write.ts";

/** Notes that somebody has read the conversation up to its last message. No event tells of it, as none tells of each message. */
export const readConversation: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.markRead",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }) {
    const conversation = await findOwnConversation(tx, id);
    if (conversation.unread === null) return showConversation(tx, conversation);
    return showConversation(
      tx,
      await writeConversation(tx, conversation, { unread_count: 0, unread: null }),
    );
  },
};
