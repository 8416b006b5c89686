import { agentById } from "./rows.ts";
import {
  type AssignConversation,
  assignConversationSchema,
  changeConversation,
  type Conversation,
  findActiveConversation,
  handlerOnAssign,
  showConversation,
} from "../conversations/index.ts";
import { invalid } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { giveToAgent } from "./give-to-agent.ts";

/** Gives a conversation to a person, an agent or nobody, who from then on handles it. */
export const assignConversation: Command<AssignConversation, Conversation> = {
  kind: "command",
  name: "conversations.assign",
  input: () => assignConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, assignee }, { services }) {
    const conversation = await findActiveConversation(tx, id);
    const { drawId } = services;
    if (assignee?.type === "agent") {
      const agent = await tx.get(agentById, [assignee.id], {
        hold: true,
      });
      if (agent === undefined) {
        throw invalid([
          { pointer: "/assignee/id", code: "unknown_agent", message: "no such agent" },
        ]);
      }
      return showConversation(tx, await giveToAgent(tx, drawId, conversation, agent));
    }
    const patch = {
      assignee_type: assignee?.type ?? null,
      assignee_id: assignee?.id ?? null,
      handler: handlerOnAssign(conversation.handler, assignee),
    };
    return showConversation(tx, await changeConversation(tx, drawId, conversation, patch));
  },
};
