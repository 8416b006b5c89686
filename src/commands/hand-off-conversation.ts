import {
  type Conversation,
  type HandOffConversation,
  handOffConversationSchema,
} from "../domain/conversations/types.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { findActiveConversation } from "./steps/change-conversation.ts";
import { handOff } from "./steps/hand-off.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Puts a conversation in the queue, for the first person free. One that waits there already stays as it is, and nothing is told. */
export const handOffConversation: Command<HandOffConversation, Conversation> = {
  kind: "command",
  name: "conversations.handOff",
  input: () => handOffConversationSchema,
  status: 200,
  async run(tx, { id, reason, summary = "" }, { scope, services }) {
    const found = await findActiveConversation(tx, scope, id);
    return showConversation(
      tx,
      await handOff(tx, actorOf(scope, services.drawId), found, { rule: null, reason, summary }),
    );
  },
};
