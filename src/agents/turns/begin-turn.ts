import { conversationById, type ConversationRow } from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Services } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { finish, renew, type Claim } from "../../queue/index.ts";
import { pendingScores } from "../../sentiment/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentInUse, assignedAgent, mayAnswerIn } from "../find-agent.ts";
import { findUnanswered, messageToAnswer } from "../handling/answered-messages.ts";
import { handOff } from "../handling/hand-off.ts";
import { openSession } from "../handling/session.ts";
import { agentSessions, type AgentRow, type AgentSessionRow } from "../rows.ts";
import { overdueDenials } from "../runs/call-rules.ts";
import { maxOpenRuns, openActions, openAnswers } from "../runs/open-runs.ts";
import { awaitingRuns, openRuns, runs, type RunRow } from "../runs/rows.ts";
import { answersMessages, mayReplyAt } from "../runs/rules.ts";
import { beginRun, cancelRun, messageColumns, resumeRun } from "../runs/write-run.ts";
import type { BegunTurn, FoundTurn } from "./turn-types.ts";

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
  services: Services,
): Promise<BegunTurn | undefined> {
  if ((await renew(tx, claim)) === undefined) return undefined;
  const { conversation_id } = claim.key;
  const conversation = await tx.get(conversationById, [conversation_id], { hold: true });
  if (conversation === undefined) {
    await finish(tx, claim);
    return undefined;
  }
  const nextDenial = await denyOverdue(tx, conversation);
  const open = await readOpenRuns(tx, conversation);
  const found = await findTurn(tx, conversation, open, services);
  if (found !== undefined && "run" in found) {
    const leased_until = await renew(tx, claim, 2 * (found.agent.limits.timeout_ms + marginMs));
    return leased_until === undefined ? undefined : { ...found, leased_until };
  }
  // None of these runs could continue. If there may be more, the job looks for them at once.
  const next = found?.beginAt ?? (open.isCut ? tx.now : Infinity);
  const againAt = Math.min(next, nextDenial);
  await finish(tx, claim, againAt === Infinity ? {} : { againAt });
  return undefined;
}

/** The open runs of a conversation, each list oldest first. */
interface OpenRuns {
  readonly actions: readonly Seen<RunRow>[];
  readonly answers: readonly Seen<RunRow>[];
  readonly others: readonly Seen<RunRow>[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/**
 * Reads the oldest open runs of a conversation. Actions and answers go before the others, so they
 * are found however many of the others wait.
 */
async function readOpenRuns(tx: Tx, { id }: ConversationRow): Promise<OpenRuns> {
  const [actions, answers, oldest] = await Promise.all([
    openActions(tx, id),
    openAnswers(tx, id),
    tx.list(openRuns, [id], maxOpenRuns),
  ]);
  const others = oldest.filter((run) => !isAction(run) && !answersMessages(run));
  return { actions, answers, others, isCut: oldest.length === maxOpenRuns };
}

/** Denies overdue approvals. Returns when the next one is due, or Infinity if none is waiting. */
async function denyOverdue(tx: Tx, conversation: ConversationRow): Promise<number> {
  const waiting = await tx.list(awaitingRuns, [conversation.id], maxOpenRuns);
  for (const run of waiting) {
    if (run.approve_by === null || run.approve_by > tx.now) return run.approve_by ?? Infinity;
    resumeRun(tx, conversation, run, overdueDenials(run.calls, tx.now));
  }
  return waiting.length === maxOpenRuns ? tx.now : Infinity;
}

/** The agent's next turn may begin only at this time, in milliseconds since the epoch. */
interface LaterTurn {
  readonly beginAt: number;
}

/**
 * Returns the turn to work on, of an open run or a new one. Undefined if there is nothing to work
 * on. Runs that may not continue are canceled.
 */
async function findTurn(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  { actions, answers, others }: OpenRuns,
  services: Services,
): Promise<FoundTurn | LaterTurn | undefined> {
  const begun = await continueFirst(tx, actions, { conversation, session: null });
  if (begun !== undefined) return begun;

  const assigned = await assignedAgent(tx, conversation);
  const session = mayAnswerIn(assigned, conversation)
    ? await openSession(tx, conversation, assigned)
    : undefined;
  const used = session && (await agentInUse(tx, session));
  const isOwn = ({ agent_id }: RunRow): boolean => agent_id === used?.agent.id;
  for (const run of [...answers, ...others]) {
    if (!isOwn(run)) cancelRun(tx, conversation, run);
  }
  if (session === undefined || used === undefined) {
    return handOffIfUnable(tx, conversation, assigned);
  }
  const own = { answers: answers.filter(isOwn), others: others.filter(isOwn) };
  return findOwnTurn(tx, services, own, { conversation, session, agent: used.definition });
}

const isAction = ({ request }: RunRow): boolean => request?.type === "action";

/** Returns the first of the runs whose agent still exists. Cancels those before it. */
async function continueFirst(
  tx: Tx,
  runs: readonly Seen<RunRow>[],
  where: Pick<FoundTurn, "conversation" | "session">,
): Promise<FoundTurn | undefined> {
  for (const run of runs) {
    const used = await agentInUse(tx, run);
    if (used !== undefined) return { ...where, run, agent: used.definition };
    cancelRun(tx, where.conversation, run);
  }
  return undefined;
}

/** An agent, and the conversation in which it answers. */
interface Answering extends Pick<FoundTurn, "conversation" | "agent"> {
  readonly session: Seen<AgentSessionRow>;
}

/** Returns the next turn of the conversation's agent: an answer, or else one of its other runs. */
async function findOwnTurn(
  tx: Tx,
  services: Services,
  { answers, others }: Pick<OpenRuns, "answers" | "others">,
  answering: Answering,
): Promise<FoundTurn | LaterTurn | undefined> {
  const { conversation, session } = answering;
  const messages = await findUnanswered(tx, conversation, session);
  const last = messages.at(-1);
  if ((await messageToAnswer(tx, messages)) !== undefined) {
    const beginAt = await earliestAnswerAt(tx, services, answering, messages);
    if (beginAt > tx.now) return { beginAt };
    const [begun] = answers;
    const run =
      begun === undefined
        ? newRun(tx, answering, messages)
        : addMessages(tx, begun, session, messages);
    return { ...answering, run };
  }

  // A person has answered and handed the conversation back, or all addresses that wrote have opted
  // out.
  for (const run of answers) cancelRun(tx, conversation, run);
  const heard =
    last === undefined
      ? session
      : tx.update(agentSessions, session, { heard_through: last.sequence, updated_at: tx.now });
  const beginAt = nextReplyAt(answering, tx.now);
  // These runs may reply too.
  if (others.length > 0 && beginAt > tx.now) return { beginAt };
  return continueFirst(tx, others, { conversation, session: heard });
}

function nextReplyAt({ session, agent }: Answering, now: number): number {
  return mayReplyAt(session.replied_at, agent.limits.max_replies_per_minute, now);
}

/**
 * Hands a conversation off to people if it is assigned to an agent that was deleted or disabled.
 */
async function handOffIfUnable(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  agent: AgentRow | undefined,
): Promise<undefined> {
  const { handler, status, assignee_type } = conversation;
  if (handler !== "ai" || status === "closed" || assignee_type !== "agent") return undefined;
  const reason = agent === undefined ? "The agent was deleted." : "The agent is disabled.";
  await handOff(tx, conversation, { reason });
  return undefined;
}

function newRun(
  tx: Tx,
  { conversation, session: { agent_id, agent_revision, frames } }: Answering,
  messages: readonly MessageRow[],
): Seen<RunRow> {
  return beginRun(tx, conversation, {
    agent_id,
    agent_revision,
    playbook_id: frames[0]?.playbook_id ?? null,
    trigger: "inbound",
    ...messageColumns(messages),
  });
}

/**
 * Returns the earliest time for an answer, in milliseconds since the epoch. It is after the contact
 * stopped writing, after the messages are scored or the wait for that is over, and within the
 * agent's reply limit.
 */
async function earliestAnswerAt(
  tx: Tx,
  { scoresSentiment }: Services,
  answering: Answering,
  messages: readonly MessageRow[],
): Promise<number> {
  const { conversation, agent } = answering;
  const [first, last] = [messages.at(0), messages.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const { debounce_ms } = agent.reply;
  const maxBurstEnd = first.created_at + maxBurstFactor * debounce_ms;
  const burstEnd = Math.min(last.created_at + debounce_ms, maxBurstEnd);
  const [pending] = scoresSentiment
    ? await tx.list(pendingScores, [conversation.contact_id], 1)
    : [];
  return Math.max(
    burstEnd,
    nextReplyAt(answering, tx.now),
    pending === undefined ? 0 : Math.min(last.created_at, maxBurstEnd) + scoreMs,
  );
}

/**
 * Adds the contact's new messages to a run that answers messages. They may have begun a new
 * session, with another version of the agent.
 */
function addMessages(
  tx: Tx,
  run: Seen<RunRow>,
  { agent_revision }: AgentSessionRow,
  messages: readonly MessageRow[],
): Seen<RunRow> {
  const columns = { ...messageColumns(messages), agent_revision };
  return columns.heard_through > run.heard_through ? tx.update(runs, run, columns) : run;
}
