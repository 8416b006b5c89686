import type { PolicyContext } from "../../consents/index.ts";
import {
  changeConversation,
  changeStatus,
  type ConversationRow,
} from "../../conversations/index.ts";
import { minuteMs, storable, withinWindow, type MessageId } from "../../kernel/index.ts";
import { observations } from "../../observations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { finish, renew, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { latestFromContact, messageToAnswer } from "../handling/answered-messages.ts";
import { handOff } from "../handling/hand-off.ts";
import { sendAs, type SendResult } from "../handling/send-as.ts";
import { askedIn } from "../playbooks/play/frames.ts";
import { agentSessions, frameColumns, type AgentSessionRow } from "../rows.ts";
import { isWaiting } from "../runs/call-rules.ts";
import { awaitingRuns, openRuns, type RunRow } from "../runs/rows.ts";
import { answersMessages } from "../runs/rules.ts";
import { endRun, pauseRun } from "../runs/write-run.ts";
import { readRunState, type RunState } from "./run-state.ts";
import { newTokens, saveProgress } from "./save-progress.ts";
import type { BegunTurn, Progress, TurnOutcome } from "./turn-types.ts";

/**
 * Ends a turn: sends the reply, hands off and updates the session. If the contact has written in
 * the meantime, or the agent no longer handles the conversation, only the progress is saved.
 */
export async function endTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { run: begun }: BegunTurn,
  outcome: TurnOutcome,
  context: PolicyContext,
): Promise<void> {
  if ((await renew(tx, claim)) === undefined) return;
  const current = await readRunState(tx, begun);
  if (current.state === "current") await conclude(tx, current, outcome, context);
  else saveProgress(tx, current, outcome);
  // Messages that arrived in the meantime need another turn, which may have to wait.
  await finishTurnJob(tx, claim, {
    hasMore: !answersMessages(begun) || current.state === "overtaken",
  });
}

/** Saves what an unfinished turn has done so far. Returns false if the lease was lost. */
export async function saveTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { run }: BegunTurn,
  progress: Progress,
): Promise<boolean> {
  if ((await renew(tx, claim)) === undefined) return false;
  saveProgress(tx, await readRunState(tx, run), progress);
  return true;
}

type Current = Extract<RunState, { readonly state: "current" }>;

async function conclude(
  tx: Tx,
  current: Current,
  outcome: TurnOutcome,
  context: PolicyContext,
): Promise<void> {
  const { run, answers } = current;
  const author = { type: "agent", id: run.agent_id } as const;
  const { text } = outcome;
  // A run that continues after an approval answers no new messages. Its reply answers the latest
  // ones. A run from a trigger answers none: its texts go where a message of the host application
  // would go.
  const continues = run.resumed && run.request === null;
  const asked = continues ? await latestFromContact(tx, current.conversation) : answers;
  // If every address has opted out since the turn began, the last message is answered, and the
  // opt-out refuses the reply.
  const reply = { author, text, answers: (await messageToAnswer(tx, asked)) ?? asked.at(-1) };
  const sent = await sendAs(tx, current.conversation, reply, context);
  const isRefused = sent.error !== null;
  const wanted = outcome.handoff ?? refusal(run, sent);
  addObservations(tx, current, outcome);
  updateSession(tx, current, outcome, sent);
  const after =
    wanted === null
      ? sent.conversation
      : await handOff(tx, sent.conversation, { ...wanted, run_id: run.id });
  const conversation = outcome.closes && !isRefused ? await close(tx, after) : after;

  const waits = wanted === null && outcome.calls.some(isWaiting);
  const isFailed = isRefused || outcome.isFailed;
  const status = isFailed ? "failed" : outcome.handoff !== null ? "handed_off" : "completed";
  const did = columnsOf(run, outcome, sent);
  if (waits) pauseRun(tx, conversation, run, did);
  else endRun(tx, conversation, run, { ...did, status });
}

/** Returns the columns of a run that say what it has done. */
function columnsOf(
  run: RunRow,
  { steps, calls, read_from, usage, playbook_id, handoff, result }: TurnOutcome,
  { message_id, error }: SendResult,
) {
  const why = handoff && { rule: handoff.rule ?? null, reason: handoff.reason };
  return {
    steps,
    calls,
    read_from,
    ...usage,
    sent_message_ids: [...run.sent_message_ids, ...(message_id === null ? [] : [message_id])],
    playbook_id: playbook_id ?? run.playbook_id,
    result: error ?? result ?? why,
  };
}

/**
 * Hands off to people if the reply was refused. There is no hand-off if the contact has opted out,
 * or if the run does not answer a message.
 */
function refusal({ request }: RunRow, { error }: SendResult): TurnOutcome["handoff"] {
  if (error === null || error.code === "recipient_opted_out" || request !== null) return null;
  return { reason: storable(`The reply was refused: ${error.error}`, 500) };
}

function updateSession(
  tx: Tx,
  { session, run }: Current,
  outcome: TurnOutcome,
  { message_id, error }: SendResult,
): void {
  // A single action from a trigger has no session.
  if (session === null) return;
  const isSaid = message_id !== null;
  const { isFailedAttempt, usage } = outcome;
  tx.update(agentSessions, session, {
    ...(error === null
      ? playbooksAfter(session, run, outcome, message_id)
      : playbooksAfterRefusal(session, run, outcome)),
    heard_through: Math.max(session.heard_through, run.heard_through),
    turns: session.turns + (isSaid ? 1 : 0),
    tokens: session.tokens + newTokens(run, usage),
    failed_attempts: isFailedAttempt ? session.failed_attempts + 1 : 0,
    replied_at: [
      ...withinWindow(session.replied_at, minuteMs, tx.now),
      ...(isSaid ? [tx.now] : []),
    ],
    updated_at: tx.now,
  });
}

type PlaybookColumns = Partial<Pick<AgentSessionRow, "frames" | "playing" | "paused_by">>;

/** Returns where the conversation's playbooks stand after a turn. */
function playbooksAfter(
  session: AgentSessionRow,
  run: RunRow,
  { frames, playbook_id, playbookWaits }: TurnOutcome,
  message_id: MessageId | null,
): PlaybookColumns {
  const isPlayed = playbook_id !== null;
  // A playbook that waits for an approval keeps waiting while the agent answers other messages.
  const paused_by = playbookWaits ? run.id : isPlayed ? null : session.paused_by;
  const asks = isPlayed && message_id !== null;
  return { ...frameColumns(asks ? askedIn(frames, message_id) : frames), paused_by };
}

/**
 * Returns where the conversation's playbooks stand after a turn whose reply was refused: where they
 * stood before, so that no question is open that the contact has not got. But a playbook that has
 * called actions ends, because it would call them a second time. A triggered playbook is in the
 * session only if it waited there for an approval.
 */
function playbooksAfterRefusal(
  session: AgentSessionRow,
  run: RunRow,
  { playbook_id, calls }: TurnOutcome,
): PlaybookColumns {
  const isInSession = run.request === null || session.paused_by === run.id;
  const ends = playbook_id !== null && isInSession && calls.length > 0;
  return ends ? { ...frameColumns([]), paused_by: null } : {};
}

function addObservations(
  tx: Tx,
  { conversation, run }: Current,
  { observations: added, source }: TurnOutcome,
): void {
  for (const { content, kind, confidence = null } of added) {
    tx.insert(observations, {
      content,
      kind,
      confidence,
      contact_id: conversation.contact_id,
      id: tx.drawId("obs"),
      conversation_id: conversation.id,
      source,
      evidence_message_ids: run.message_ids,
      created_at: tx.now,
      expires_at: null,
    });
  }
}

async function close(tx: Tx, conversation: Seen<ConversationRow>): Promise<Seen<ConversationRow>> {
  const change = changeStatus(conversation, { status: "closed" }, tx.now);
  return change.decision === "change"
    ? changeConversation(tx, conversation, change.patch)
    : conversation;
}

/** Gives up a turn that keeps failing, and hands the conversation off to people. */
export async function failTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { run: begun }: BegunTurn,
): Promise<void> {
  if ((await renew(tx, claim)) === undefined) return;
  const current = await readRunState(tx, begun);
  if (current.state === "current" || current.state === "overtaken") {
    const { run, session } = current;
    const reason = "The turn failed repeatedly.";
    // No contact waits for a single action from a trigger.
    const conversation =
      session === null
        ? current.conversation
        : await handOff(tx, current.conversation, { reason, run_id: run.id });
    endRun(tx, conversation, run, { status: "failed", result: { error: reason } });
  }
  await finishTurnJob(tx, claim, { hasMore: true });
}

/**
 * Finishes a turn's job. It runs again at once while there are open runs or `hasMore` says that
 * there is other work, and otherwise when the next approval is overdue.
 */
async function finishTurnJob(
  tx: Tx,
  claim: Claim<"turn">,
  { hasMore }: { readonly hasMore: boolean },
): Promise<void> {
  const [[open], [waiting]] = await Promise.all([
    tx.list(openRuns, [claim.key.conversation_id], 1),
    tx.list(awaitingRuns, [claim.key.conversation_id], 1),
  ]);
  const againAt = hasMore || open !== undefined ? tx.now : waiting?.approve_by;
  await finish(tx, claim, againAt == null ? {} : { againAt });
}
