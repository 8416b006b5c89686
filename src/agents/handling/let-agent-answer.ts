/** Which agent answers a contact's messages. */
import { conversationById, type ConversationRow } from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentInUse, assignedAgent } from "../find-agent.ts";
import { turnJob } from "../job-orders.ts";
import {
  agentSessionOf,
  agentSessions,
  enabledAgents,
  maxAgents,
  type AgentRow,
  type AgentSessionRow,
} from "../rows.ts";
import { answeredThrough } from "./answered-messages.ts";
import { makeHandler, openSession } from "./session.ts";

interface AnswerOptions {
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
 * people closed and the contact reopens, if its agent is set to resume. A keyword is not answered.
 * But if it reopens the conversation, the agent still gets the conversation: the contact's next
 * message would not reopen it any more.
 */
export async function letAgentAnswer(
  tx: Tx,
  message: MessageRow,
  options: AnswerOptions,
): Promise<void> {
  const { conversation_id, sequence, keyword } = message;
  const { isReopened } = options;
  if (keyword !== null && !isReopened) return;
  const conversation = await tx.get(conversationById, [conversation_id], { hold: true });
  if (conversation === undefined) throw new TypeError("an inbound message has no conversation");
  const [session, usual] = await Promise.all([
    tx.get(agentSessionOf, [conversation_id]),
    agentFor(tx, conversation, message),
  ]);
  const isBack = isReopened && session !== undefined && conversation.handler !== "none";
  const agent = usual ?? (isBack ? await formerAgent(tx, session) : undefined);
  if (agent !== undefined) {
    await renewSession(tx, conversation, agent, { ...options, session, before: sequence - 1 });
    await makeHandler(tx, conversation, agent);
  }
  // If the agent was deleted, its turn hands the conversation to people.
  const hasTurn = agent !== undefined || conversation.handler === "ai";
  if (hasTurn && keyword === null) await arm(tx, turnJob(conversation, tx.now));
}

interface Renewal extends AnswerOptions {
  readonly session: Seen<AgentSessionRow> | undefined;
  /** The sequence number of the last message before the one to answer. */
  readonly before: number;
}

/**
 * Continues the conversation's session. If the conversation was reopened or was silent for long, a
 * new session begins.
 */
async function renewSession(
  tx: Tx,
  conversation: ConversationRow,
  agent: AgentRow,
  { session, before, isReopened, reopenMs }: Renewal,
): Promise<void> {
  const isSilent = session !== undefined && session.updated_at < tx.now - reopenMs;
  const isHandling = conversation.handler === "ai";
  if (session !== undefined && (isReopened || isSilent)) tx.remove(agentSessions, session);
  let heard_through = before;
  if (session !== undefined && !isReopened) {
    // An agent that was silent still answers the messages that came to it meanwhile.
    if (isHandling) heard_through = session.heard_through;
    // An agent that the conversation was taken from answers what the host application has not
    // answered since.
    else if (!isSilent) heard_through = await answeredThrough(tx, conversation);
  }
  // The counts carry over. Otherwise an agent that closes its conversations could talk to a machine
  // for ever.
  const counts = isHandling && !isSilent ? session : undefined;
  await openSession(tx, conversation, agent, { heard_through, guarded_from: before, counts });
}

/**
 * Has the agent of a conversation that a person has opened again answer what waits: a turn does
 * nothing in a closed conversation. If it was closed for so long that a message of the contact
 * would not have reopened it (`isLate`), the old messages are not answered any more.
 */
export async function resumeAgent(
  tx: Tx,
  conversation: ConversationRow,
  { isLate }: { readonly isLate: boolean },
): Promise<void> {
  const { id, handler } = conversation;
  if (handler !== "ai") return;
  if (isLate) {
    const [session, agent] = await Promise.all([
      tx.get(agentSessionOf, [id]),
      assignedAgent(tx, conversation),
    ]);
    if (session !== undefined) tx.remove(agentSessions, session);
    if (agent !== undefined) await openSession(tx, conversation, agent);
  }
  // Without an enabled agent, the turn hands the conversation to people.
  await arm(tx, turnJob(conversation, tx.now));
}

/** Returns the conversation's agent, or chooses one if the conversation has no handler. */
async function agentFor(
  tx: Tx,
  conversation: ConversationRow,
  { channel, to }: MessageRow,
): Promise<AgentRow | undefined> {
  if (conversation.handler === "ai") return assignedAgent(tx, conversation);
  if (conversation.handler !== "none") return undefined;
  const enabled = await tx.list(enabledAgents, [], maxAgents);
  return enabled.find(
    ({ channels, senders }) =>
      channels.includes(channel) && (senders === null || senders.includes(to)),
  );
}

/** Returns the agent that had the conversation before people, if it is set to resume after them. */
async function formerAgent(tx: Tx, session: AgentSessionRow): Promise<AgentRow | undefined> {
  const { agent, definition } = (await agentInUse(tx, session)) ?? {};
  return agent?.enabled === true && definition?.handoff.resume_after_human === true
    ? agent
    : undefined;
}
