import {
  type Conversation,
  findActiveConversation,
  type HandOffConversation,
  handOffConversationSchema,
  showConversation,
} from "../conversations/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { handOff } from "./hand-off.ts";

/** Puts a conversation in the queue, for the first person free. One that waits there already stays as it is, and nothing is told. */
export const handOffConversation: Command<HandOffConversation, Conversation> = {
  kind: "command",
  name: "conversations.handOff",
  input: () => handOffConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, reason, summary = "" }, { services }) {
    const found = await findActiveConversation(tx, id);
    return showConversation(
      tx,
      await handOff(tx, services.drawId, found, { rule: null, reason, summary }),
    );
  },
};
