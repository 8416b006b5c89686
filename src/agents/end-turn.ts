import { type DrawId, storable } from "../kernel/index.ts";
import { type AgentSessionRow, agentSessions } from "./rows.ts";
import { changeConversation, changeStatus, type ConversationRow } from "../conversations/index.ts";
import { type Claim, renew } from "../queue/index.ts";
import { observations } from "../observations/index.ts";
import { type RunRow, runs } from "./runs/rows.ts";
import { approvalMs, isAside, repliesBefore } from "./runs/rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { endRun } from "./end-run.ts";
import { giveBackTurn } from "./give-back-turn.ts";
import { handOff } from "./hand-off.ts";
import { keepProgress, spent } from "./keep-progress.ts";
import { type RunStanding, runStanding } from "./run-standing.ts";
import { type Said, sayAs } from "./say-as.ts";
import type { BegunTurn, JudgedTurn, Noticed, TurnOutcome } from "./turn-rows.ts";

/**
 * Ends a turn: says what the agent has to say, hands over, remembers. Nothing of it commits when the conversation is not the agent's any
 * more, and nothing but what was done already when the contact has written meanwhile.
 */
export async function endTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { run: begun }: BegunTurn,
  outcome: TurnOutcome,
  options: JudgedTurn,
): Promise<void> {
  if (!(await renew(tx, claim, options.leaseMs))) return;
  const standing = await runStanding(tx, begun);
  if (standing.state === "current") await conclude(tx, standing, outcome, options);
  // The reply was overtaken, and is dropped.
  if (standing.state === "overtaken") keepProgress(tx, standing, outcome);
  // What the contact wrote meanwhile waits for a turn of its own, and its time may not have come yet.
  await giveBackTurn(tx, claim, { hasMore: isAside(begun) || standing.state === "overtaken" });
}

type Current = Extract<RunStanding, { readonly state: "current" }>;

async function conclude(
  tx: Tx,
  standing: Current,
  outcome: TurnOutcome,
  options: JudgedTurn,
): Promise<void> {
  const { run, session } = standing;
  const { drawId } = options.services;
  const author = { type: "agent", id: run.agent_id } as const;
  const said = await sayAs(tx, standing.conversation, author, outcome.text, options);
  const isRefused = said.error !== null;
  const over = outcome.handOff ?? refusal(run, said);
  for (const noticed of outcome.noticed) notice(tx, drawId, standing, noticed, outcome.source);
  if (session !== null) remember(tx, session, run, outcome, said);
  const handed =
    over === null
      ? said.conversation
      : await handOff(tx, drawId, said.conversation, { ...over, run_id: run.id });
  const conversation = outcome.closes && !isRefused ? await close(tx, drawId, handed) : handed;

  const { steps, calls, usage } = outcome;
  const did = {
    steps,
    calls,
    ...usage,
    playbook_id: outcome.playbook_id ?? run.playbook_id,
    result: said.error ?? outcome.result,
  };
  const waits = over === null && calls.some(({ status }) => status === "awaiting_approval");
  if (waits) {
    const status = "awaiting_approval";
    tx.update(runs, run, {
      ...did,
      status,
      open: null,
      resumed: true,
      approve_by: tx.now + approvalMs,
    });
    return;
  }
  const status = isRefused ? "failed" : outcome.handOff !== null ? "handed_off" : "completed";
  endRun(tx, drawId, conversation, run, { ...did, status });
}

/** What the contact wrote can't be answered: people may know why. Who opted out, or wrote nothing, waits for no answer. */
function refusal({ request }: RunRow, { error }: Said): TurnOutcome["handOff"] {
  if (error === null || error.code === "recipient_opted_out" || request !== null) return null;
  return {
    rule: null,
    reason: storable(`The reply was refused: ${error.error}`, 500),
    summary: "",
  };
}

/** What the agent has in mind from now on. */
function remember(
  tx: Tx,
  session: Seen<AgentSessionRow>,
  run: RunRow,
  outcome: TurnOutcome,
  { isSaid, error }: Said,
): void {
  const { frames, playbook_id, isWaiting, isStuck, usage } = outcome;
  // A playbook that waits goes on waiting while others talk.
  const paused_by = isWaiting ? run.id : playbook_id === null ? session.paused_by : null;
  tx.update(agentSessions, session, {
    ...(error === null ? { frames, paused_by } : {}),
    heard: Math.max(session.heard, run.heard),
    turns: session.turns + (isSaid ? 1 : 0),
    tokens: session.tokens + spent(run, usage),
    failed_attempts: isStuck ? session.failed_attempts + 1 : 0,
    replied_at: [...repliesBefore(session.replied_at, tx.now), ...(isSaid ? [tx.now] : [])],
    updated_at: tx.now,
  });
}

function notice(
  tx: Tx,
  drawId: DrawId,
  { conversation, run }: Current,
  { content, kind, confidence }: Noticed,
  source: TurnOutcome["source"],
): void {
  tx.insert(observations, {
    contact_id: conversation.contact_id,
    id: drawId("obs"),
    conversation_id: conversation.id,
    content,
    kind,
    source,
    evidence_message_ids: run.message_ids,
    confidence,
    created_at: tx.now,
    expires_at: null,
  });
}

async function close(
  tx: Tx,
  drawId: DrawId,
  conversation: Seen<ConversationRow>,
): Promise<Seen<ConversationRow>> {
  const change = changeStatus(conversation, { status: "closed" }, tx.now);
  return change.decision === "change"
    ? changeConversation(tx, drawId, conversation, change.patch)
    : conversation;
}
