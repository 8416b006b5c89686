import { type AgentRow, agentSessionOf, type AgentSessionRow, agentSessions } from "./rows.ts";
import type { RunRow } from "./runs/rows.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { type MessageRow, messagesOfConversation } from "../messages/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

interface OpenSession {
  /** Sequence number of the last message that needs no answer. Default: the last message. */
  readonly heard?: number;
  /** Counts that continue from an earlier session. Default: none. */
  readonly counts?: Pick<AgentSessionRow, "turns" | "tokens" | "replied_at"> | undefined;
}

/** The columns that are reset when the agent gets the conversation back from people. */
export const clearedState = {
  frames: [],
  paused_by: null,
  failed_attempts: 0,
  queued_at: null,
} as const;

/**
 * Returns the agent's session in a conversation, or opens one with the agent's current version. An
 * agent that gets a conversation back keeps its session's version but starts afresh. Call
 * this before the conversation is assigned to the agent.
 */
export async function openSession(
  tx: Tx,
  { id: conversation_id, handler, message_count }: ConversationRow,
  { id: agent_id, revision }: Pick<AgentRow, "id" | "revision">,
  { heard = message_count, counts }: OpenSession = {},
): Promise<Seen<AgentSessionRow>> {
  const before = await tx.get(agentSessionOf, [conversation_id]);
  if (before?.agent_id === agent_id) {
    return handler === "ai"
      ? before
      : tx.update(agentSessions, before, { ...clearedState, turns: 0, updated_at: tx.now });
  }
  // The session of another agent is not reused.
  if (before !== undefined) tx.remove(agentSessions, before);
  return tx.insert(agentSessions, {
    conversation_id,
    agent_id,
    agent_revision: revision,
    ...clearedState,
    heard,
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
  { heard }: Pick<AgentSessionRow, "heard">,
): Promise<readonly MessageRow[]> {
  const first = Math.max(heard, message_count - maxUnanswered) + 1;
  // Sequence numbers have no gaps, so they can be computed.
  const places = Array.from(
    { length: Math.max(0, message_count - first + 1) },
    (_, i) => first + i,
  );
  const rows = (
    await Promise.all(places.map((sequence) => tx.list(messagesOfConversation, [id, sequence], 1)))
  ).flat();
  const last = rows.findLastIndex(({ author_type }) => author_type === "human");
  return rows
    .slice(last + 1)
    .filter(({ direction, keyword }) => direction === "inbound" && keyword === null);
}

/** Returns the columns of a run that answers these messages. */
export function messageColumns(
  messages: readonly MessageRow[],
): Pick<RunRow, "message_ids" | "heard"> {
  return { message_ids: messages.map(({ id }) => id), heard: messages.at(-1)?.sequence ?? 0 };
}
