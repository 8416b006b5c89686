import type { DrawId } from "../kernel/index.ts";
import {
  agentById,
  type AgentRow,
  agentSessionOf,
  type AgentSessionRow,
  agentSessions,
  agentVersionOf,
  enabledAgents,
} from "./rows.ts";
import { answersFor, mostAgents } from "./rules.ts";
import {
  changeConversation,
  conversationById,
  type ConversationRow,
} from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { turnJob } from "./runs/rules.ts";
import type { Tx } from "../store/index.ts";
import { openSession } from "./open-session.ts";

interface CallAgent {
  /** The conversation had been closed. */
  readonly isReopened: boolean;
  /** How long a closed conversation can be opened again by the contact; so long a silence ends what its agent had in mind too. */
  readonly reopenMs: number;
}

/**
 * Has an agent answer what the contact wrote: the conversation's, else the oldest enabled one for the sender and the channel. What people
 * handle is theirs, but where the contact has come back after they closed it and its agent is to go on.
 */
export async function callAgent(
  tx: Tx,
  drawId: DrawId,
  message: MessageRow,
  { isReopened, reopenMs }: CallAgent,
): Promise<void> {
  const { conversation_id, sequence } = message;
  const conversation = await tx.get(conversationById, [conversation_id], {
    hold: true,
  });
  if (conversation === undefined) throw new TypeError("a message came in in no conversation");
  const [session, usual] = await Promise.all([
    tx.get(agentSessionOf, [conversation_id]),
    agentFor(tx, conversation, message),
  ]);
  const isBack = isReopened && session !== undefined && conversation.handler !== "none";
  const agent = usual ?? (isBack ? await former(tx, session) : undefined);
  // An agent that is gone leaves the conversation to people in its turn.
  if (agent === undefined) {
    return conversation.handler === "ai" ? arm(tx, turnJob(conversation, tx.now)) : undefined;
  }
  const isSilent = session !== undefined && session.updated_at < tx.now - reopenMs;
  if (session !== undefined && (isReopened || isSilent)) tx.remove(agentSessions, session);
  // An agent that closes its conversations would have no limits otherwise, and talk with a machine for ever.
  const counts = conversation.handler === "ai" && !isSilent ? session : undefined;
  await openSession(tx, conversation, agent, { heard: sequence - 1, counts });
  const patch = { handler: "ai", assignee_type: "agent", assignee_id: agent.id } as const;
  await changeConversation(tx, drawId, conversation, patch);
  await arm(tx, turnJob(conversation, tx.now));
}

/** The agent that has the conversation, or that takes one that nobody has. */
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
  const found = await tx.list(enabledAgents, [], mostAgents);
  return found.find((agent) => answersFor(agent, channel, to));
}

/** The agent that had the conversation before people did, where it resumes after them. */
async function former(tx: Tx, session: AgentSessionRow): Promise<AgentRow | undefined> {
  const { agent_id, agent_revision } = session;
  const [agent, version] = await Promise.all([
    tx.get(agentById, [agent_id]),
    tx.get(agentVersionOf, [agent_id, agent_revision]),
  ]);
  return agent?.enabled === true && version?.definition.handoff.resume_after_human === true
    ? agent
    : undefined;
}
