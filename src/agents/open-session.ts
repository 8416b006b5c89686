import { agentSessionOf, agentSessions, type AgentRow, type AgentSessionRow } from "./rows.ts";
import type { ConversationRow } from "../conversations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

export interface OpenSession {
  /** The place of the last message that it need not answer; by default the last there is. */
  readonly heard?: number;
  /** What counts on from a session before; by default nothing. */
  readonly counts?: Pick<AgentSessionRow, "turns" | "tokens" | "replied_at"> | undefined;
}

/** Where an agent was when people took over is nothing to go on with. */
export const afresh = { frames: [], paused_by: null, failed_attempts: 0, queued_at: null } as const;

/**
 * What an agent has in mind of a conversation that it has or, as it stands, is yet to be given: from now on its current version, unless it
 * has had the conversation before. What it is given back begins anew.
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
      : tx.update(agentSessions, before, { ...afresh, turns: 0, updated_at: tx.now });
  }
  // What another agent had in mind is nothing to this one.
  if (before !== undefined) tx.remove(agentSessions, before);
  return tx.insert(agentSessions, {
    conversation_id,
    agent_id,
    agent_revision: revision,
    ...afresh,
    heard,
    turns: counts?.turns ?? 0,
    tokens: counts?.tokens ?? 0,
    replied_at: counts?.replied_at ?? [],
    created_at: tx.now,
    updated_at: tx.now,
  });
}
