import {
  changeConversation,
  lastSequence,
  statusPatch,
  type ConversationRow,
} from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import {
  agentSessionOf,
  agentSessions,
  frameColumns,
  type AgentRow,
  type AgentSessionRow,
} from "../rows.ts";
import { playMayQuote } from "../runs/redaction-rules.ts";

interface OpenSession {
  /**
   * Only for a new session or a conversation without a handler: the sequence number of the last
   * message that the agent need not answer. Later messages are new to it. Default: the
   * conversation's last message.
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
  conversation: ConversationRow,
  { id: agent_id, revision }: Pick<AgentRow, "id" | "revision">,
  { counts, ...from }: OpenSession = {},
): Promise<Seen<AgentSessionRow>> {
  const { id: conversation_id, handler } = conversation;
  const last = lastSequence(conversation);
  const { heard_through = last, guarded_from = last } = from;
  const before = await tx.get(agentSessionOf, [conversation_id]);
  if (before?.agent_id === agent_id) {
    if (handler === "ai") return before;
    return tx.update(agentSessions, before, {
      ...initialState,
      // Without a handler, only the host application could answer.
      ...(handler === "none" && { heard_through: Math.max(before.heard_through, heard_through) }),
      guarded_from,
      turns: 0,
      updated_at: tx.now,
    });
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

/**
 * Makes an agent the handler of an active conversation. A snooze ends: it says when people look at
 * the conversation again, but the agent takes the conversation now.
 */
export function makeHandler(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  { id: assignee_id }: Pick<AgentRow, "id">,
): Promise<Seen<ConversationRow>> {
  const assigned = { handler: "ai", assignee_type: "agent", assignee_id } as const;
  const open = statusPatch({ status: "open" });
  return changeConversation(tx, conversation, { ...assigned, ...open });
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
