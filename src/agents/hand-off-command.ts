import {
  type Conversation,
  type HandOffConversation,
  handOffConversationSchema,
} from "../conversations/types.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import { findActiveConversation } from "../conversations/change.ts";
import { handOff } from "./hand-off.ts";
import { showConversation } from "../conversations/show.ts";

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
