import { conversationHandoff } from "./events.ts";
import { agentSessionOf, agentSessions, agentVersionOf } from "./rows.ts";
import type { HandoffCause } from "./settings/handoff-rule-types.ts";
import { contactById, sentimentOf } from "../contacts/index.ts";
import {
  changeConversation,
  type ConversationRow,
  conversationOfEvent,
} from "../conversations/index.ts";
import { appendEvent, handoffEventId } from "../events/index.ts";
import { arm } from "../queue/index.ts";
import { messagesOfConversation } from "../messages/index.ts";
import { queueTimeoutJob } from "./runs/rules.ts";
import { type GenerateId, isId, type MessageId, type RunId } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

interface HandOver {
  /** Null if no rule of the agent asks for the hand-off. */
  readonly rule: HandoffCause | null;
  readonly reason: string;
  readonly summary: string;
  /**
   * The run that hands off. The event's id is derived from it, so that erasing the run's words also
   * finds the event.
   */
  readonly run_id?: RunId;
}

/**
 * Puts an active conversation in the queue for people and publishes the event. If it is already in
 * the queue, nothing changes.
 */
export async function handOff(
  tx: Tx,
  drawId: GenerateId,
  before: Seen<ConversationRow>,
  { rule, reason, summary, run_id }: HandOver,
): Promise<Seen<ConversationRow>> {
  if (before.handler === "queue") return before;
  // A person is unassigned. An agent stays assigned, so that people can hand the conversation back
  // to it.
  const unassigned =
    before.assignee_type === "human" ? { assignee_type: null, assignee_id: null } : {};
  const conversation = await changeConversation(tx, drawId, before, {
    handler: "queue",
    ...unassigned,
  });
  const { contact_id, assignee_id } = conversation;
  const [shown, contact, last_message_ids] = await Promise.all([
    conversationOfEvent(tx, conversation),
    tx.get(contactById, [contact_id]),
    lastMessageIds(tx, conversation),
  ]);
  const data = {
    conversation_id: conversation.id,
    contact: shown.contact,
    agent_id: assignee_id !== null && isId("agt", assignee_id) ? assignee_id : null,
    reason,
    rule,
    summary,
    last_message_ids,
    sentiment: contact?.sentiment_state ? sentimentOf(contact.sentiment_state) : null,
  };
  const about = { contact_id, conversation_id: conversation.id };
  appendEvent(tx, drawId, conversationHandoff, data, about, run_id && handoffEventId(run_id));
  await waitForPeople(tx, conversation, rule);
  return conversation;
}

/**
 * After these causes the agent does not take the conversation back when the queue times out.
 * Otherwise the same cause would arise again.
 */
const final: ReadonlySet<HandoffCause | null> = new Set([
  "loop_suspected",
  "guardrail",
  "max_turns",
  "budget",
]);

/** Starts the agent's queue timeout, if it has one. */
async function waitForPeople(
  tx: Tx,
  { id }: ConversationRow,
  rule: HandoffCause | null,
): Promise<void> {
  const session = await tx.get(agentSessionOf, [id]);
  if (session === undefined) return;
  const isFinal = final.has(rule);
  tx.update(agentSessions, session, { queued_at: isFinal ? null : tx.now, updated_at: tx.now });
  if (isFinal) return;
  const version = await tx.get(agentVersionOf, [session.agent_id, session.agent_revision]);
  const seconds = version?.definition.handoff.queue_timeout_seconds;
  if (seconds !== undefined) await arm(tx, queueTimeoutJob(session, tx.now + seconds * 1_000));
}

/** The maximum number of messages that a hand-off names. */
const maxMessageIds = 10;

/**
 * Returns the last messages of a conversation, oldest first. Sequence numbers have no gaps, so the
 * numbers of the last messages are known.
 */
async function lastMessageIds(
  tx: Tx,
  { id, message_count }: ConversationRow,
): Promise<MessageId[]> {
  const count = Math.min(message_count, maxMessageIds);
  const sequences = Array.from({ length: count }, (_, i) => message_count - count + 1 + i);
  const rows = await Promise.all(
    sequences.map((sequence) => tx.list(messagesOfConversation, [id, sequence], 1)),
  );
  return rows.flat().map((message) => message.id);
}
