import {
  agentById,
  type AgentRow,
  agentSessionOf,
  type AgentSessionRow,
  agentSessions,
  agentVersionOf,
} from "./rows.ts";
import type { AgentDefinition } from "./types.ts";
import {
  changeConversation,
  conversationById,
  type ConversationRow,
} from "../conversations/index.ts";
import { arm, type Claim, finish } from "../queue/index.ts";
import { turnJob } from "./runs/rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { CheckedTurn } from "./turn-types.ts";
import { cancelAnswerRuns } from "./run-lifecycle.ts";
import { initialState, findUnanswered } from "./session.ts";
import { sendAs } from "./send-as.ts";

/**
 * Ends the wait for people when none has taken a conversation from the queue in time. Either its
 * agent takes it back and answers the messages since, or the contact gets the fallback text and the
 * conversation stays in the queue. Does nothing if a person has taken it, or if it was queued again
 * since.
 */
export async function timeOutQueue(
  tx: Tx,
  claim: Claim<"queue-timeout">,
  options: Omit<CheckedTurn, "leaseMs">,
): Promise<void> {
  const waiting = await findWaiting(tx, claim);
  if (waiting !== undefined && waiting.until > tx.now) {
    return finish(tx, claim, { againAt: waiting.until });
  }
  await finish(tx, claim);
  if (waiting === undefined) return;
  const { agent, session, definition } = waiting;
  const isBack = definition.handoff.on_no_humans === "stay_ai" && agent.enabled === true;
  const patch = { handler: "ai", assignee_type: "agent", assignee_id: agent.id } as const;
  const { drawId } = options.services;
  const conversation = isBack
    ? await changeConversation(tx, drawId, waiting.conversation, patch)
    : waiting.conversation;
  if (isBack) {
    // The count of replies continues: otherwise two machines could answer each other for ever.
    tx.update(agentSessions, session, { ...initialState, updated_at: tx.now });
    await cancelAnswerRuns(tx, drawId, conversation);
  }
  const messages = await findUnanswered(tx, conversation, session);
  if (isBack && messages.length > 0) return arm(tx, turnJob(conversation, tx.now));
  await sendAs(tx, conversation, { type: "system" }, definition.fallback_text, options);
}

interface Waiting {
  readonly conversation: Seen<ConversationRow>;
  readonly session: Seen<AgentSessionRow>;
  readonly agent: AgentRow;
  readonly definition: AgentDefinition;
  /** In milliseconds. */
  readonly until: number;
}

async function findWaiting(
  tx: Tx,
  { key: { conversation_id } }: Claim<"queue-timeout">,
): Promise<Waiting | undefined> {
  const [conversation, session] = await Promise.all([
    tx.get(conversationById, [conversation_id], { hold: true }),
    tx.get(agentSessionOf, [conversation_id], { hold: true }),
  ]);
  if (
    conversation?.handler !== "queue" ||
    conversation.status === "closed" ||
    session === undefined
  ) {
    return undefined;
  }
  const { agent_id, agent_revision, queued_at } = session;
  const [agent, version] = await Promise.all([
    tx.get(agentById, [agent_id]),
    tx.get(agentVersionOf, [agent_id, agent_revision]),
  ]);
  const seconds = version?.definition.handoff.queue_timeout_seconds;
  if (agent === undefined || version === undefined || seconds === undefined || queued_at === null) {
    return undefined;
  }
  return {
    conversation,
    session,
    agent,
    definition: version.definition,
    until: queued_at + seconds * 1_000,
  };
}
