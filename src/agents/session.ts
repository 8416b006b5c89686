import { type AgentRow, agentSessionOf, type AgentSessionRow, agentSessions } from "./rows.ts";
import type { RunRow } from "./runs/rows.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { type MessageRow, messagesOfConversation } from "../messages/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

interface OpenSession {
  /**
   * For a new session: the sequence number of the last message that the agent need not answer.
   * Later messages are new to it. Default: the conversation's last message.
   */
  readonly heard_through?: number;
  /** For a new session: counts that continue from an earlier session. Default: zero. */
  readonly counts?: Pick<AgentSessionRow, "turns" | "tokens" | "replied_at"> | undefined;
}

/** The initial state, to which a session returns when its agent gets the conversation back. */
export const initialState = {
  frames: [],
  paused_by: null,
  failed_attempts: 0,
  queued_at: null,
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
  { heard_through = message_count, counts }: OpenSession = {},
): Promise<Seen<AgentSessionRow>> {
  const before = await tx.get(agentSessionOf, [conversation_id]);
  if (before?.agent_id === agent_id) {
    return handler === "ai"
      ? before
      : tx.update(agentSessions, before, { ...initialState, turns: 0, updated_at: tx.now });
  }
  // The session of another agent is not reused.
  if (before !== undefined) tx.remove(agentSessions, before);
  return tx.insert(agentSessions, {
    conversation_id,
    agent_id,
    agent_revision: revision,
    ...initialState,
    heard_through,
    turns: counts?.turns ?? 0,
    tokens: counts?.tokens ?? 0,
    replied_at: counts?.replied_at ?? [],
    created_at: tx.now,
    updated_at: tx.now,
  });
}

/**
 * The maximum number of messages that one turn answers. If there are more, only the latest are
 * read.
 */
const maxUnanswered = 50;

/**
 * Returns the contact's messages that neither the agent nor a person has answered, oldest first.
 * Keyword messages are handled elsewhere and are left out.
 */
export async function findUnanswered(
  tx: Tx,
  { id, message_count }: ConversationRow,
  { heard_through }: Pick<AgentSessionRow, "heard_through">,
): Promise<readonly MessageRow[]> {
  const first = Math.max(heard_through, message_count - maxUnanswered) + 1;
  // Sequence numbers have no gaps, so they can be computed.
  const sequences = Array.from(
    { length: Math.max(0, message_count - first + 1) },
    (_, i) => first + i,
  );
  const rows = (
    await Promise.all(
      sequences.map((sequence) => tx.list(messagesOfConversation, [id, sequence], 1)),
    )
  ).flat();
  const last = rows.findLastIndex(({ author_type }) => author_type === "human");
  return rows
    .slice(last + 1)
    .filter(({ direction, keyword }) => direction === "inbound" && keyword === null);
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
