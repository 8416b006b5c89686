import type { GenerateId } from "../kernel/index.ts";
import {
  agentById,
  type AgentRow,
  agentSessionOf,
  type AgentSessionRow,
  agentSessions,
  agentVersionOf,
  enabledAgents,
} from "./rows.ts";
import { answersFor, maxAgents } from "./rules.ts";
import {
  changeConversation,
  conversationById,
  type ConversationRow,
} from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { turnJob } from "./runs/rules.ts";
import type { Tx } from "../store/index.ts";
import { openSession } from "./session.ts";

interface CallAgent {
  /** Whether the message reopened a closed conversation. */
  readonly isReopened: boolean;
  /**
   * How long after closing a contact's message reopens the conversation, in milliseconds. A session
   * without activity for that long is discarded too.
   */
  readonly reopenMs: number;
}

/**
 * Has an agent answer a message: the conversation's agent, or else the oldest enabled agent for the
 * sender and channel. Conversations that people handle are left alone. The exception is one that
 * people closed and the contact reopens, if its agent is set to resume.
 */
export async function callAgent(
  tx: Tx,
  drawId: GenerateId,
  message: MessageRow,
  { isReopened, reopenMs }: CallAgent,
): Promise<void> {
  const { conversation_id, sequence } = message;
  const conversation = await tx.get(conversationById, [conversation_id], {
    hold: true,
  });
  if (conversation === undefined) throw new TypeError("an inbound message has no conversation");
  const [session, usual] = await Promise.all([
    tx.get(agentSessionOf, [conversation_id]),
    agentFor(tx, conversation, message),
  ]);
  const isBack = isReopened && session !== undefined && conversation.handler !== "none";
  const agent = usual ?? (isBack ? await formerAgent(tx, session) : undefined);
  // If the agent was deleted, its turn hands the conversation to people.
  if (agent === undefined) {
    return conversation.handler === "ai" ? arm(tx, turnJob(conversation, tx.now)) : undefined;
  }
  const isSilent = session !== undefined && session.updated_at < tx.now - reopenMs;
  if (session !== undefined && (isReopened || isSilent)) tx.remove(agentSessions, session);
  // The counts carry over. Otherwise an agent that closes its conversations could talk to a machine
  // for ever.
  const counts = conversation.handler === "ai" && !isSilent ? session : undefined;
  await openSession(tx, conversation, agent, { heard_through: sequence - 1, counts });
  const patch = { handler: "ai", assignee_type: "agent", assignee_id: agent.id } as const;
  await changeConversation(tx, drawId, conversation, patch);
  await arm(tx, turnJob(conversation, tx.now));
}

/** Returns the conversation's agent, or chooses one if the conversation has no handler. */
async function agentFor(
  tx: Tx,
  conversation: ConversationRow,
  message: MessageRow,
): Promise<AgentRow | undefined> {
  const { handler, assignee_type, assignee_id } = conversation;
  if (handler === "none") return chooseAgent(tx, message);
  const own = handler === "ai" && assignee_type === "agent" ? assignee_id : null;
  return own === null ? undefined : tx.get(agentById, [own]);
}

async function chooseAgent(
  tx: Tx,
  { channel, to }: Pick<MessageRow, "channel" | "to">,
): Promise<AgentRow | undefined> {
  const found = await tx.list(enabledAgents, [], maxAgents);
  return found.find((agent) => answersFor(agent, channel, to));
}

/** Returns the agent that had the conversation before people, if it is set to resume after them. */
async function formerAgent(tx: Tx, session: AgentSessionRow): Promise<AgentRow | undefined> {
  const { agent_id, agent_revision } = session;
  const [agent, version] = await Promise.all([
    tx.get(agentById, [agent_id]),
    tx.get(agentVersionOf, [agent_id, agent_revision]),
  ]);
  return agent?.enabled === true && version?.definition.handoff.resume_after_human === true
    ? agent
    : undefined;
}
