import { type Conversation, type LabelConversation, labelConversationSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import { actorOf } from "../events/append.ts";
import { changeConversation, findOwnConversation } from "./change.ts";
import { showConversation } from "./show.ts";

/** Sets the labels of a conversation. */
export const labelConversation: Command<LabelConversation, Conversation> = {
  kind: "command",
  name: "conversations.setLabels",
  input: () => labelConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, labels }, { scope, services }) {
    const conversation = await findOwnConversation(tx, scope, id);
    const changed = await changeConversation(tx, actorOf(scope, services.drawId), conversation, {
      labels,
    });
    return showConversation(tx, changed);
  },
};
