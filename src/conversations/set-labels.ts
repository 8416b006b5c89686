import { type Conversation, type LabelConversation, labelConversationSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { changeConversation, findOwnConversation } from "./change.ts";
import { showConversation } from "./show.ts";

/** Sets the labels of a conversation. */
export const labelConversation: Command<LabelConversation, Conversation> = {
  kind: "command",
  name: "conversations.setLabels",
  input: () => labelConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, labels }, { services }) {
    const conversation = await findOwnConversation(tx, id);
    const changed = await changeConversation(tx, services.drawId, conversation, {
      labels,
    });
    return showConversation(tx, changed);
  },
};
