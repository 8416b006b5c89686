import { assigneeOf } from "../domain/conversations/resource.ts";
import { handlerOnHandBack } from "../domain/conversations/rules.ts";
import type { Conversation } from "../domain/conversations/types.ts";
import { type ById, byIdSchema } from "../fields.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { changeConversation, findActiveConversation } from "./steps/change-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Gives a conversation that people have back to its agent; one that has no agent is nobody's then. */
export const handBackConversation: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.handBack",
  input: () => byIdSchema,
  status: 200,
  async run(tx, { id }, { scope, services }) {
    const conversation = await findActiveConversation(tx, scope, id);
    const handler = handlerOnHandBack(conversation.handler, assigneeOf(conversation));
    const changed = await changeConversation(tx, actorOf(scope, services.drawId), conversation, { handler });
    return showConversation(tx, changed);
  },
};
