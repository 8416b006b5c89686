import { handlerOnAssign } from "../domain/conversations/rules.ts";
import { type AssignConversation, assignConversationSchema, type Conversation } from "../domain/conversations/types.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { changeConversation, findActiveConversation } from "./steps/change-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Gives a conversation to a person, an agent or nobody, who from then on handles it. */
export const assignConversation: Command<AssignConversation, Conversation> = {
  kind: "command",
  name: "conversations.assign",
  input: () => assignConversationSchema,
  status: 200,
  async run(tx, { id, assignee }, { scope, services }) {
    const conversation = await findActiveConversation(tx, scope, id);
    const patch = {
      assignee_type: assignee?.type ?? null,
      assignee_id: assignee?.id ?? null,
      handler: handlerOnAssign(conversation.handler, assignee),
    };
    return showConversation(tx, await changeConversation(tx, actorOf(scope, services.drawId), conversation, patch));
  },
};
