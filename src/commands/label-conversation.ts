import {
  type Conversation,
  type LabelConversation,
  labelConversationSchema,
} from "../domain/conversations/types.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { changeConversation, findOwnConversation } from "./steps/change-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Sets the labels of a conversation. */
export const labelConversation: Command<LabelConversation, Conversation> = {
  kind: "command",
  name: "conversations.setLabels",
  input: () => labelConversationSchema,
  status: 200,
  async run(tx, { id, labels }, { scope, services }) {
    const conversation = await findOwnConversation(tx, scope, id);
    const changed = await changeConversation(tx, actorOf(scope, services.drawId), conversation, {
      labels,
    });
    return showConversation(tx, changed);
  },
};
