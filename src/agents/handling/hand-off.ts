import type { PolicyContext } from "../../consents/index.ts";
import { contactById, sentimentOf } from "../../contacts/index.ts";
import {
  changeConversation,
  conversationById,
  conversationOfEvent,
  isOutsideThread,
  lastSequence,
  queueTimeoutJob,
  statusPatch,
  type ConversationRow,
  type Handler,
} from "../../conversations/index.ts";
import { appendEvent, handoffEventId } from "../../events/index.ts";
import { isId, type RunId } from "../../kernel/index.ts";
import { messagesOfConversation } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm, finish, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { conversationHandoff } from "../events.ts";
import { agentInUse } from "../find-agent.ts";
import { turnJob } from "../job-orders.ts";
import { agentSessionOf, agentSessions, type AgentRow, type AgentSessionRow } from "../rows.ts";
import { cancelAnswerRuns } from "../runs/write-run.ts";
import type { HandoffCause } from "../settings/handoff-rule-types.ts";
import type { AgentDefinition } from "../types.ts";
import { findUnanswered, messageToAnswer } from "./answered-messages.ts";
import { sendAs } from "./send-as.ts";
import { initialState, makeHandler } from "./session.ts";

const maxMessageIds = 10;
/** The maximum number of messages that are read for that. Some may wait for their time. */
const maxReadForIds = 30;

/** What a hand-off tells the people who take over. */
export interface Handoff {
  /** Null, as by default, if no rule of the agent asks for the hand-off. */
  readonly rule?: HandoffCause | null;
  readonly reason: string;
  /** Default: empty. */
  readonly summary?: string | undefined;
}

interface HandOffOptions extends Handoff {
  /**
   * The run that hands off. The event's id is derived from it, so that erasing the run's words also
   * finds the event.
   */
  readonly run_id?: RunId;
  /** Whether a snooze stays. By default it ends, so that people see the conversation. */
  readonly keepsSnooze?: boolean;
}

/**
 * Hands an active conversation off to people: puts it in the queue, and publishes the event. If it
 * is already in the queue, nothing changes.
 */
export async function handOff(
  tx: Tx,
  before: Seen<ConversationRow>,
  { rule = null, reason, summary = "", run_id, keepsSnooze = false }: HandOffOptions,
): Promise<Seen<ConversationRow>> {
  if (before.handler === "queue") return before;
  // A person is unassigned. An agent stays assigned, so that people can hand the conversation back
  // to it.
  const unassigned =
    before.assignee_type === "human" ? { assignee_type: null, assignee_id: null } : {};
  const conversation = await changeConversation(tx, before, {
    handler: "queue",
    ...(keepsSnooze ? {} : statusPatch({ status: "open" })),
    ...unassigned,
  });
  const { contact_id, assignee_id } = conversation;
  const [shown, contact, lastMessages] = await Promise.all([
    conversationOfEvent(tx, conversation),
    tx.get(contactById, [contact_id]),
    tx.list(messagesOfConversation, [conversation.id], maxReadForIds, "descending"),
  ]);
  const data = {
    conversation_id: conversation.id,
    contact: shown.contact,
    agent_id: assignee_id !== null && isId("agt", assignee_id) ? assignee_id : null,
    reason,
    rule,
    summary,
    last_message_ids: lastMessages
      .filter((row) => !isOutsideThread(row))
      .slice(0, maxMessageIds)
      .map(({ id }) => id)
      .toReversed(),
    sentiment: contact?.sentiment_state ? sentimentOf(contact.sentiment_state) : null,
  };
  const about = { contact_id, conversation_id: conversation.id };
  appendEvent(tx, conversationHandoff, data, about, run_id && handoffEventId(run_id));
  await waitForPeople(tx, conversation, { rule, from: before.handler });
  return conversation;
}

/**
 * After these causes the agent does not take the conversation back when the queue times out.
 * Otherwise the same cause would arise again.
 */
const causesForGood: ReadonlySet<HandoffCause | null> = new Set([
  "loop_suspected",
  "guardrail",
  "max_turns",
  "budget",
]);

/**
 * Starts the agent's queue timeout, if it has one. If people gave the conversation up, the agent's
 * own hand-off still decides whether the timeout applies.
 */
async function waitForPeople(
  tx: Tx,
  conversation: ConversationRow,
  { rule, from }: { readonly rule: HandoffCause | null; readonly from: Handler },
): Promise<void> {
  const session = await tx.get(agentSessionOf, [conversation.id]);
  if (session === undefined) return;
  const isForGood =
    causesForGood.has(rule) || (from === "human" && session.handed_off_for_good === true);
  tx.update(agentSessions, session, {
    queued_at: isForGood ? null : tx.now,
    handed_off_for_good: isForGood || null,
    updated_at: tx.now,
  });
  if (isForGood) return;
  const used = await agentInUse(tx, session);
  const seconds = used?.definition.handoff.queue_timeout_seconds;
  if (seconds !== undefined) await arm(tx, queueTimeoutJob(conversation, tx.now + seconds * 1_000));
}

/**
 * Ends the wait for people when none has taken a conversation from the queue in time. Either its
 * agent takes it back and answers the messages since, or the conversation stays in the queue. The
 * contact gets the fallback text unless the agent has something to answer. Does nothing if a person
 * has taken the conversation, if it is closed or if its agent was disabled, and waits longer if it
 * was queued or reopened since.
 */
export async function timeOutQueue(
  tx: Tx,
  claim: Claim<"queue-timeout">,
  context: PolicyContext,
): Promise<void> {
  const waiting = await findWaiting(tx, claim);
  if (waiting !== undefined && waiting.until > tx.now) {
    return finish(tx, claim, { againAt: waiting.until });
  }
  await finish(tx, claim);
  if (waiting === undefined) return;
  const { session, definition } = waiting;
  const isBack = definition.handoff.on_no_humans === "stay_ai";
  const conversation = isBack ? await takeBack(tx, waiting) : waiting.conversation;
  const messages = await findUnanswered(tx, conversation, session);
  if (isBack && messages.length > 0) return arm(tx, turnJob(conversation, tx.now));
  // The contact may want no more messages.
  if (conversation.opt_out_suspected === true) return;
  const answers = (await messageToAnswer(tx, messages)) ?? messages.at(-1);
  const reply = { author: { type: "system" }, text: definition.fallback_text, answers } as const;
  await sendAs(tx, conversation, reply, context);
}

async function takeBack(
  tx: Tx,
  { conversation: before, session, agent }: Waiting,
): Promise<Seen<ConversationRow>> {
  const conversation = await makeHandler(tx, before, agent);
  // The count of replies continues: otherwise two machines could answer each other for ever.
  const guarded_from = lastSequence(conversation);
  tx.update(agentSessions, session, { ...initialState, guarded_from, updated_at: tx.now });
  await cancelAnswerRuns(tx, conversation);
  return conversation;
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
  const used = await agentInUse(tx, session);
  const seconds = used?.definition.handoff.queue_timeout_seconds;
  const { queued_at } = session;
  // An agent that was deleted or disabled sends nothing more.
  if (used?.agent.enabled !== true || seconds === undefined || queued_at === null) {
    return undefined;
  }
  // A conversation that is reopened in the queue begins to wait again.
  const since = Math.max(queued_at, conversation.waiting_since ?? 0);
  return { ...used, conversation, session, until: since + seconds * 1_000 };
}
