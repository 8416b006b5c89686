import {
  agentById,
  type AgentRow,
  agentSessionOf,
  type AgentSessionRow,
  agentSessions,
  enabledAgents,
  frameColumns,
} from "./rows.ts";
import { agentInUse } from "./reads.ts";
import type { AgentDefinition } from "./types.ts";
import type { RunRow } from "./runs/rows.ts";
import {
  changeConversation,
  conversationById,
  type ConversationRow,
  type ConversationStatus,
  type Handler,
} from "../conversations/index.ts";
import type { MessageRow } from "../messages/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { Channel, GenerateId } from "../kernel/index.ts";
import { maxAgents } from "./write-agent.ts";
import { arm } from "../queue/index.ts";
import { playMayQuote, turnJob } from "./runs/rules.ts";

/** Whether an agent answers messages to a sender on a channel. */
function answersFor(
  { channels, senders }: Pick<AgentDefinition, "channels" | "senders">,
  channel: Channel,
  sender: string,
): boolean {
  return channels.includes(channel) && (senders === null || senders.includes(sender));
}

/** Whether an agent may answer in a conversation. */
export function answersIn<A extends { readonly id: string; readonly enabled: true | null }>(
  agent: A | undefined,
  {
    handler,
    status,
    assignee_id,
  }: {
    readonly handler: Handler;
    readonly status: ConversationStatus;
    readonly assignee_id: string | null;
  },
): agent is A {
  return (
    agent?.enabled === true && handler === "ai" && status !== "closed" && assignee_id === agent.id
  );
}

interface OpenSession {
  /**
   * For a new session: the sequence number of the last message that the agent need not answer.
   * Later messages are new to it. Default: the conversation's last message.
   */
  readonly heard_through?: number;
  /**
   * The sequence number of the last message that the loop guard ignores. Default: the
   * conversation's last message.
   */
  readonly guarded_from?: number;
  /** For a new session: counts that continue from an earlier session. Default: zero. */
  readonly counts?:
    Pick<AgentSessionRow, "turns" | "tokens" | "replied_at" | "guarded_from"> | undefined;
}

/** The initial state, to which a session returns when its agent gets the conversation back. */
export const initialState = {
  ...frameColumns([]),
  paused_by: null,
  failed_attempts: 0,
  queued_at: null,
  handed_off_for_good: null,
} as const;

/**
 * Returns the agent's session in a conversation, or opens one with the agent's current version. A
 * session keeps its version of the agent, its token count and what the agent has heard. If people
 * had the conversation, the rest is reset. Call this before the conversation is assigned to the
 * agent.
 */
export async function openSession(
  tx: Tx,
  { id: conversation_id, handler, message_count }: ConversationRow,
  { id: agent_id, revision }: Pick<AgentRow, "id" | "revision">,
  { heard_through = message_count, guarded_from = message_count, counts }: OpenSession = {},
): Promise<Seen<AgentSessionRow>> {
  const before = await tx.get(agentSessionOf, [conversation_id]);
  if (before?.agent_id === agent_id) {
    if (handler === "ai") return before;
    const fresh = { ...initialState, guarded_from, turns: 0, updated_at: tx.now };
    return tx.update(agentSessions, before, fresh);
  }
  // The session of another agent is not reused.
  if (before !== undefined) tx.remove(agentSessions, before);
  return tx.insert(agentSessions, {
    conversation_id,
    agent_id,
    agent_revision: revision,
    ...initialState,
    heard_through,
    guarded_from: counts?.guarded_from ?? guarded_from,
    turns: counts?.turns ?? 0,
    tokens: counts?.tokens ?? 0,
    replied_at: counts?.replied_at ?? [],
    created_at: tx.now,
    updated_at: tx.now,
  });
}

/** Makes an agent the handler of a conversation. */
export function makeHandler(
  tx: Tx,
  drawId: GenerateId,
  conversation: Seen<ConversationRow>,
  { id: assignee_id }: Pick<AgentRow, "id">,
): Promise<Seen<ConversationRow>> {
  const patch = { handler: "ai", assignee_type: "agent", assignee_id } as const;
  return changeConversation(tx, drawId, conversation, patch);
}

/**
 * Removes the words of a message from the agent's session. A slot does not record which messages
 * its value comes from, so the playbooks that may contain the words end. The session is read after
 * the runs in progress that may quote the message were excluded, because a turn can store the words
 * until its run has ended. A run that begins while a playbook is in progress, and can store its
 * slots, has a `playbook_id`. So these runs include it.
 */
export async function redactSession(tx: Tx, message: MessageRow): Promise<void> {
  const session = await tx.get(agentSessionOf, [message.conversation_id]);
  if (session === undefined || !playMayQuote(session, message)) return;
  tx.update(agentSessions, session, { ...frameColumns([]), paused_by: null });
}

/** Returns the columns of a run that answers these messages. */
export function messageColumns(
  messages: readonly MessageRow[],
): Pick<RunRow, "message_ids" | "heard_through"> {
  return {
    message_ids: messages.map(({ id }) => id),
    heard_through: messages.at(-1)?.sequence ?? 0,
  };
}

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
 * people closed and the contact reopens, if its agent is set to resume. An agent does not answer a
 * keyword. But a keyword that reopens the conversation gives it to the agent like every other
 * message, because the contact's next message no longer reopens it.
 */
export async function callAgent(
  tx: Tx,
  drawId: GenerateId,
  message: MessageRow,
  { isReopened, reopenMs }: CallAgent,
): Promise<void> {
  const { conversation_id, sequence, keyword } = message;
  if (keyword !== null && !isReopened) return;
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
    if (conversation.handler === "ai" && keyword === null) {
      await arm(tx, turnJob(conversation, tx.now));
    }
    return;
  }
  const isSilent = session !== undefined && session.updated_at < tx.now - reopenMs;
  if (session !== undefined && (isReopened || isSilent)) tx.remove(agentSessions, session);
  // The counts carry over. Otherwise an agent that closes its conversations could talk to a machine
  // for ever.
  const counts = conversation.handler === "ai" && !isSilent ? session : undefined;
  const before = sequence - 1;
  // An agent that was silent still answers the messages that came to it meanwhile.
  const isItsOwn = conversation.handler === "ai" && !isReopened;
  const heard_through = (isItsOwn ? session?.heard_through : undefined) ?? before;
  const opened = { heard_through, guarded_from: before, counts };
  await openSession(tx, conversation, agent, opened);
  await makeHandler(tx, drawId, conversation, agent);
  if (keyword === null) await arm(tx, turnJob(conversation, tx.now));
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
  const { agent, definition } = (await agentInUse(tx, session)) ?? {};
  return agent?.enabled === true && definition?.handoff.resume_after_human === true
    ? agent
    : undefined;
}
