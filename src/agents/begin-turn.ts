import { beginRun, endRun } from "./run-progress.ts";
import { handOff } from "./hand-off.ts";
import { answersIn, messageColumns, openSession } from "./session.ts";
import { findUnanswered } from "./answered-messages.ts";
import {
  agentById,
  type AgentRow,
  type AgentSessionRow,
  agentSessions,
  agentVersionOf,
} from "./rows.ts";
import { awaitingRuns, openRuns, type RunRow, runs } from "./runs/rows.ts";
import { answersNoMessages, denyWaitingCalls, maxOpenRuns, mayReplyAt } from "./runs/rules.ts";
import type { BegunTurn, TurnContext } from "./turn-types.ts";
import type { AgentDefinition } from "./types.ts";
import { consentFor, identityByAddress, stateOf } from "../contacts/index.ts";
import { conversationById, type ConversationRow } from "../conversations/index.ts";
import { type GenerateId, mediumOf } from "../kernel/index.ts";
import type { MessageRow } from "../messages/index.ts";
import type { Seen } from "../ports/index.ts";
import { type Claim, finish, renew } from "../queue/index.ts";
import { pendingScores } from "../sentiment/index.ts";
import type { Tx } from "../store/index.ts";

/** How long a turn waits for the sentiment scores of new messages, in milliseconds. */
const scoreMs = 2_000;
/**
 * A contact that keeps writing is answered after this many times the debounce time, counted from
 * the first unanswered message.
 */
const maxBurstFactor = 5;
/**
 * Time for the transactions around a turn, in addition to the turn's own limit, in milliseconds.
 */
const marginMs = 30_000;

/**
 * Finds the next work for a conversation's agent: first a single action from a trigger, then
 * unanswered messages, then a triggered playbook or an approved action. If there is none, or not
 * yet, the job is finished or rescheduled. If the lease was lost, nothing is done.
 */
export async function beginTurn(
  tx: Tx,
  claim: Claim<"turn">,
  options: TurnContext,
): Promise<BegunTurn | undefined> {
  if (!(await renew(tx, claim, options.leaseMs))) return undefined;
  const { conversation_id } = claim.key;
  const conversation = await tx.get(conversationById, [conversation_id], { hold: true });
  if (conversation === undefined) {
    await finish(tx, claim);
    return undefined;
  }
  const nextDenial = await denyOverdue(tx, conversation);
  const open = await tx.list(openRuns, [conversation.id], maxOpenRuns);
  const begun = await findTurn(tx, conversation, open, options);
  if (typeof begun === "object") {
    await renew(tx, claim, 2 * (begun.agent.limits.timeout_ms + marginMs));
    return begun;
  }
  // None of these runs could continue. If there may be more, the job looks for them at once.
  const next = begun ?? (open.length === maxOpenRuns ? tx.now : Infinity);
  const againAt = Math.min(next, nextDenial);
  await finish(tx, claim, againAt === Infinity ? {} : { againAt });
  return undefined;
}

/** Denies overdue approvals. Returns when the next one is due, or Infinity if none is waiting. */
async function denyOverdue(tx: Tx, { id }: ConversationRow): Promise<number> {
  const waiting = await tx.list(awaitingRuns, [id], maxOpenRuns);
  for (const run of waiting) {
    if (run.approve_by === null || run.approve_by > tx.now) return run.approve_by ?? Infinity;
    tx.update(runs, run, {
      ...denyWaitingCalls(run, tx.now),
      status: "running",
      open: true,
      approve_by: null,
    });
  }
  return waiting.length === maxOpenRuns ? tx.now : Infinity;
}

/**
 * Returns the run to work on, open or new, or the time when an answer may begin. Undefined if there
 * is nothing to work on. Runs that may not continue are canceled.
 */
async function findTurn(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  open: readonly Seen<RunRow>[],
  options: TurnContext,
): Promise<BegunTurn | number | undefined> {
  const { drawId } = options.services;
  const cancel = (run: Seen<RunRow>): void =>
    endRun(tx, drawId, conversation, run, { status: "canceled" });

  for (const run of open) {
    if (run.request?.type !== "action") continue;
    const agent = await definitionFor(tx, run);
    if (agent !== undefined) return { run, conversation, session: null, agent };
    cancel(run);
  }
  const others = open.filter(({ request }) => request?.type !== "action");
  const agent = await assignedTo(tx, conversation);
  const session = answersIn(agent, conversation)
    ? await openSession(tx, conversation, agent)
    : undefined;
  const definition = session && (await definitionFor(tx, session));
  const own = others.filter(
    (run) => definition !== undefined && run.agent_id === session?.agent_id,
  );
  for (const run of others) if (!own.includes(run)) cancel(run);
  if (session === undefined || definition === undefined) {
    return handOffIfUnable(tx, drawId, conversation, agent);
  }

  const messages = await findUnanswered(tx, conversation, session);
  const last = messages.at(-1);
  const needsAnswer = last !== undefined && !(await hasOptedOut(tx, last));
  if (needsAnswer) {
    const wait = await earliestAnswerAt(
      tx,
      { conversation, session, agent: definition, messages },
      options,
    );
    if (wait > tx.now) return wait;
    const answering = own.find((run) => !answersNoMessages(run));
    const run = answering
      ? addMessages(tx, answering, messages)
      : newRun(tx, drawId, conversation, session, messages);
    return { run, conversation, session, agent: definition };
  }
  const updatedSession =
    last === undefined
      ? session
      : tx.update(agentSessions, session, { heard_through: last.sequence, updated_at: tx.now });
  // A person has answered and handed the conversation back, or the contact has opted out.
  for (const run of own) if (!answersNoMessages(run)) cancel(run);
  for (const run of own.filter(answersNoMessages)) {
    const agent = await definitionFor(tx, run);
    if (agent !== undefined) return { run, conversation, session: updatedSession, agent };
    cancel(run);
  }
  return undefined;
}

/** Returns the assigned agent, even if it may not answer. */
async function assignedTo(
  tx: Tx,
  { assignee_type, assignee_id }: ConversationRow,
): Promise<AgentRow | undefined> {
  if (assignee_type !== "agent" || assignee_id === null) return undefined;
  return tx.get(agentById, [assignee_id]);
}

/**
 * Returns the agent's definition in the version that the run or session uses; undefined if the
 * agent was deleted.
 */
async function definitionFor(
  tx: Tx,
  { agent_id, agent_revision }: Pick<RunRow, "agent_id" | "agent_revision">,
): Promise<AgentDefinition | undefined> {
  const [agent, version] = await Promise.all([
    tx.get(agentById, [agent_id]),
    tx.get(agentVersionOf, [agent_id, agent_revision]),
  ]);
  return agent && version?.definition;
}

/**
 * Hands a conversation off to people if it is assigned to an agent that was deleted or disabled.
 */
async function handOffIfUnable(
  tx: Tx,
  drawId: GenerateId,
  conversation: Seen<ConversationRow>,
  agent: AgentRow | undefined,
): Promise<undefined> {
  const { handler, status, assignee_type } = conversation;
  if (handler !== "ai" || status === "closed" || assignee_type !== "agent") return undefined;
  const reason = agent === undefined ? "The agent was deleted." : "The agent is disabled.";
  await handOff(tx, drawId, conversation, { rule: null, reason, summary: "" });
  return undefined;
}

function newRun(
  tx: Tx,
  drawId: GenerateId,
  conversation: Seen<ConversationRow>,
  session: AgentSessionRow,
  messages: readonly MessageRow[],
): Seen<RunRow> {
  const { agent_id, agent_revision, frames } = session;
  const playbook_id = frames[0]?.playbook_id ?? null;
  const begun = {
    agent_id,
    agent_revision,
    playbook_id,
    trigger: "inbound",
  } as const;
  return beginRun(tx, drawId, conversation, { ...begun, ...messageColumns(messages) });
}

interface UnansweredMessages {
  readonly conversation: ConversationRow;
  readonly session: AgentSessionRow;
  readonly agent: AgentDefinition;
  readonly messages: readonly MessageRow[];
}

/**
 * Returns the earliest time for an answer, in milliseconds since the epoch. It is after the contact
 * stopped writing, after the messages are scored or the wait for that is over, and within the
 * agent's reply limit.
 */
async function earliestAnswerAt(
  tx: Tx,
  { conversation, session, agent, messages }: UnansweredMessages,
  { services }: TurnContext,
): Promise<number> {
  const [first, last] = [messages.at(0), messages.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const { debounce_ms } = agent.reply;
  const maxBurstEnd = first.created_at + maxBurstFactor * debounce_ms;
  const burstEnd = Math.min(last.created_at + debounce_ms, maxBurstEnd);
  const withinLimit = mayReplyAt(session.replied_at, agent.limits.max_replies_per_minute, tx.now);
  const [pending] = services.scoresSentiment
    ? await tx.list(pendingScores, [conversation.contact_id], 1)
    : [];
  return Math.max(
    burstEnd,
    withinLimit,
    pending === undefined ? 0 : Math.min(last.created_at, maxBurstEnd) + scoreMs,
  );
}

/** Adds the contact's new messages to a run that answers messages. */
function addMessages(tx: Tx, run: Seen<RunRow>, messages: readonly MessageRow[]): Seen<RunRow> {
  const columns = messageColumns(messages);
  return columns.heard_through > run.heard_through ? tx.update(runs, run, columns) : run;
}

/**
 * Whether the contact has opted out of the sender that the message went to. The agent then does not
 * reply.
 */
async function hasOptedOut(tx: Tx, { channel, from, to }: MessageRow): Promise<boolean> {
  const identity = await tx.get(identityByAddress, [mediumOf(channel), from], {
    hold: true,
  });
  return identity !== undefined && consentFor(stateOf(identity), to) === "opted_out";
}
