import { agentById, type AgentRow, agentSessionOf } from "./rows.ts";
import {
  assigneeOf,
  changeConversation,
  type Conversation,
  type ConversationRow,
  findActiveConversation,
  handlerOnHandBack,
  showConversation,
} from "../conversations/index.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { giveToAgent } from "./give-to-agent.ts";

/** Gives a conversation that people have back to its agent; one that has no agent is nobody's then. */
export const handBackConversation: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.handBack",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    const conversation = await findActiveConversation(tx, id);
    const agent = await agentOf(tx, conversation);
    const assignee = agent === undefined ? null : ({ type: "agent", id: agent.id } as const);
    const handler = handlerOnHandBack(conversation.handler, assignee);
    if (handler === conversation.handler) return showConversation(tx, conversation);
    const { drawId } = services;
    const changed =
      agent === undefined
        ? await changeConversation(tx, drawId, conversation, { handler })
        : await giveToAgent(tx, drawId, conversation, agent);
    return showConversation(tx, changed);
  },
};

/** The agent that is assigned, else the one that had the conversation before people did; if it is still there. */
async function agentOf(tx: Tx, conversation: ConversationRow): Promise<AgentRow | undefined> {
  const { id } = conversation;
  const assignee = assigneeOf(conversation);
  const agent_id =
    assignee?.type === "agent" ? assignee.id : (await tx.get(agentSessionOf, [id]))?.agent_id;
  return agent_id === undefined ? undefined : tx.get(agentById, [agent_id], { hold: true });
}
