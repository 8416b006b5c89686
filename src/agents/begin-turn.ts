import type { DrawId } from "../kernel/index.ts";
import {
  agentById,
  type AgentRow,
  type AgentSessionRow,
  agentSessions,
  agentVersionOf,
} from "./rows.ts";
import { answersIn } from "./rules.ts";
import type { AgentDefinition } from "./types.ts";
import { conversationById, type ConversationRow } from "../conversations/index.ts";
import { type Claim, finish, renew } from "../queue/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { awaitingRuns, openRuns, type RunRow, runs } from "./runs/rows.ts";
import { denied, isAside, mayReplyAt, mostOpenRuns } from "./runs/rules.ts";
import { pendingScores } from "../sentiment/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { beginRun } from "./begin-run.ts";
import { endRun } from "./end-run.ts";
import { handOff } from "./hand-off.ts";
import { openSession } from "./open-session.ts";
import type { BegunTurn, TurnContext } from "./turn-rows.ts";
import { heardIn, unansweredIn } from "./unanswered.ts";
import { wantsNone } from "./wants-none.ts";

/** How long the scores of what was just written are waited for, in milliseconds. */
const scoreMs = 2_000;
/** Somebody who goes on writing is answered all the same, after so many times the pause that ends a burst. */
const longestBurst = 5;
/** A turn has its time, and the transactions around it theirs; in milliseconds. */
const margin = 30_000;
/**
 * Finds what there is to do for the agent of a conversation: an action that was ordered, else messages that have no answer, else what was
 * ordered or approved. Where there is nothing, or not yet, the job is given back; where the lease was lost, nothing is done.
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
  const open = await tx.list(openRuns, [conversation.id], mostOpenRuns);
  const begun = await findTurn(tx, conversation, open, options);
  if (typeof begun === "object") {
    await renew(tx, claim, 2 * (begun.agent.limits.timeout_ms + margin));
    return begun;
  }
  // None of them could be gone on with; there may be more.
  const next = begun ?? (open.length === mostOpenRuns ? tx.now : Infinity);
  const againAt = Math.min(next, nextDenial);
  await finish(tx, claim, againAt === Infinity ? {} : { againAt });
  return undefined;
}

/** What nobody approved in time is denied. Answers when the next one is due. */
async function denyOverdue(tx: Tx, { id }: ConversationRow): Promise<number> {
  const waiting = await tx.list(awaitingRuns, [id], mostOpenRuns);
  for (const run of waiting) {
    if (run.approve_by === null || run.approve_by > tx.now) return run.approve_by ?? Infinity;
    tx.update(runs, run, { ...denied(run), status: "running", open: true, approve_by: null });
  }
  return waiting.length === mostOpenRuns ? tx.now : Infinity;
}

/** The run to work on, of those that are under way or a new one; or when it is its time. */
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
    return leave(tx, drawId, conversation, agent);
  }

  const messages = await unansweredIn(tx, conversation, session);
  const last = messages.at(-1);
  const isWanted = last !== undefined && !(await wantsNone(tx, last));
  if (isWanted) {
    const wait = await waitFor(tx, { conversation, session, agent: definition, messages }, options);
    if (wait > tx.now) return wait;
    const under = own.find((run) => !isAside(run));
    const run = under ? hear(tx, under, messages) : newRun(tx, drawId, session, messages);
    return { run, conversation, session, agent: definition };
  }
  const heard =
    last === undefined
      ? session
      : tx.update(agentSessions, session, { heard: last.sequence, updated_at: tx.now });
  // A person has answered meanwhile, and given the conversation back; or the contact has opted out.
  for (const run of own) if (!isAside(run)) cancel(run);
  for (const run of own.filter(isAside)) {
    const agent = await definitionFor(tx, run);
    if (agent !== undefined) return { run, conversation, session: heard, agent };
    cancel(run);
  }
  return undefined;
}

/** The agent that a conversation is assigned to, whether it may answer or not. */
async function assignedTo(
  tx: Tx,
  { assignee_type, assignee_id }: ConversationRow,
): Promise<AgentRow | undefined> {
  if (assignee_type !== "agent" || assignee_id === null) return undefined;
  return tx.get(agentById, [assignee_id]);
}

/** What an agent was in the version that something began with; undefined when the agent is gone. */
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

/** An agent that is gone or disabled leaves what it had to people. */
async function leave(
  tx: Tx,
  drawId: DrawId,
  conversation: Seen<ConversationRow>,
  agent: AgentRow | undefined,
): Promise<undefined> {
  const { handler, status, assignee_type } = conversation;
  if (handler !== "ai" || status === "closed" || assignee_type !== "agent") return undefined;
  const reason = agent === undefined ? "The agent is gone." : "The agent is disabled.";
  await handOff(tx, drawId, conversation, { rule: null, reason, summary: "" });
  return undefined;
}

function newRun(
  tx: Tx,
  drawId: DrawId,
  session: AgentSessionRow,
  messages: readonly MessageRow[],
): Seen<RunRow> {
  const { agent_id, agent_revision, conversation_id, frames } = session;
  const playbook_id = frames[0]?.playbook_id ?? null;
  const begun = {
    agent_id,
    agent_revision,
    conversation_id,
    playbook_id,
    trigger: "inbound",
  } as const;
  return beginRun(tx, drawId, { ...begun, ...heardIn(messages) });
}

interface Waiting {
  readonly conversation: ConversationRow;
  readonly session: AgentSessionRow;
  readonly agent: AgentDefinition;
  readonly messages: readonly MessageRow[];
}

/** When an answer may be begun: after the burst, when it was scored or will not be, and when the agent may reply again. */
async function waitFor(
  tx: Tx,
  { conversation, session, agent, messages }: Waiting,
  { services }: TurnContext,
): Promise<number> {
  const [first, last] = [messages.at(0), messages.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const { debounce_ms } = agent.reply;
  const longest = first.created_at + longestBurst * debounce_ms;
  const burst = Math.min(last.created_at + debounce_ms, longest);
  const limit = mayReplyAt(session.replied_at, agent.limits.max_replies_per_minute, tx.now);
  const [pending] = services.scoresSentiment
    ? await tx.list(pendingScores, [conversation.contact_id], 1)
    : [];
  return Math.max(
    burst,
    limit,
    pending === undefined ? 0 : Math.min(last.created_at, longest) + scoreMs,
  );
}

function hear(tx: Tx, run: Seen<RunRow>, messages: readonly MessageRow[]): Seen<RunRow> {
  const heard = heardIn(messages);
  return heard.heard > run.heard ? tx.update(runs, run, heard) : run;
}
