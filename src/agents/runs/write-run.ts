/** Writes what happens to a run: it begins, may pause for approvals and resume, and ends. */
import { conversations, type ConversationRow } from "../../conversations/index.ts";
import { appendEvent, completedEventId } from "../../events/index.ts";
import { iso } from "../../kernel/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentRunApprovalDecided, agentRunAwaitingApproval, agentRunCompleted } from "../events.ts";
import {
  afterDecisions,
  callsAfterTurn,
  finalDenials,
  firstDenialOf,
  type CallDecision,
} from "./call-rules.ts";
import { openAnswers } from "./open-runs.ts";
import { runs, type RunRow } from "./rows.ts";
import { callsToDecide, runForEvent } from "./show.ts";

type Begun = Pick<RunRow, "agent_id" | "agent_revision" | "playbook_id" | "trigger">;
type Cause = Pick<RunRow, "message_ids" | "heard_through"> | Pick<RunRow, "request">;

/**
 * Inserts a run, for messages of the contact or for a trigger. The conversation's next turn works
 * on it.
 */
export function beginRun(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  run: Begun & Cause,
): Seen<RunRow> {
  // The run will quote messages of the conversation, so a redaction that is under way must find it.
  tx.touch(conversations, conversation);
  return tx.insert(runs, {
    id: tx.drawId("run"),
    message_ids: [],
    heard_through: 0,
    read_from: null,
    request: null,
    conversation_id: conversation.id,
    ...run,
    status: "running",
    open: true,
    resumed: false,
    sent_message_ids: [],
    steps: [],
    calls: [],
    result: null,
    input_tokens: 0,
    output_tokens: 0,
    model_calls: 0,
    approve_by: null,
    created_at: tx.now,
    finished_at: null,
  });
}

/** Returns the columns of a run that answers these messages. */
export function messageColumns(
  messages: readonly MessageRow[],
): Pick<RunRow, "message_ids" | "heard_through"> {
  return {
    message_ids: messages.map(({ id }) => id),
    heard_through: messages.at(-1)?.sequence ?? 0,
  };
}

/**
 * Lets a run wait for the approval of a call, and publishes the event. The event quotes nothing
 * from the run, so a redaction does not change it.
 */
export function pauseRun(
  tx: Tx,
  conversation: ConversationRow,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "calls">,
): void {
  const calls = callsAfterTurn(patch.calls, tx.now);
  const approve_by = firstDenialOf(calls);
  const paused = tx.update(runs, run, {
    ...patch,
    calls,
    status: "awaiting_approval",
    open: null,
    resumed: true,
    approve_by,
  });
  const [call] = callsToDecide(paused);
  if (call === undefined) throw new TypeError("a run without a waiting call was paused");
  const about = subjectOf(conversation);
  const { id: run_id, agent_id } = paused;
  const { id: call_id, action } = call;
  const deadline = iso(call.approve_by ?? approve_by);
  const data = { run_id, agent_id, ...about, call_id, action, approve_by: deadline };
  appendEvent(tx, agentRunAwaitingApproval, data, about);
}

/** Lets a run continue after decisions about its calls, and publishes an event for each. */
export function resumeRun(
  tx: Tx,
  conversation: ConversationRow,
  run: Seen<RunRow>,
  decisions: readonly CallDecision[],
): Seen<RunRow> {
  publishDecisions(tx, conversation, run, decisions);
  return tx.update(runs, run, {
    ...afterDecisions(run, decisions),
    status: "running",
    open: true,
    approve_by: null,
  });
}

/** Ends a run and publishes the event. Calls that still wait for an approval are denied. */
export function endRun(
  tx: Tx,
  conversation: ConversationRow,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "status">,
): void {
  const before = { ...run, ...patch };
  const denials = finalDenials(before.calls, tx.now);
  const ended = tx.update(runs, run, {
    ...patch,
    ...afterDecisions(before, denials),
    open: null,
    approve_by: null,
    finished_at: tx.now,
  });
  publishDecisions(tx, conversation, run, denials);
  const data = { run: runForEvent(ended) };
  appendEvent(tx, agentRunCompleted, data, subjectOf(conversation), completedEventId(run.id));
}

export function cancelRun(tx: Tx, conversation: ConversationRow, run: Seen<RunRow>): void {
  endRun(tx, conversation, run, { status: "canceled" });
}

/** Cancels the runs that answer messages. They may still be open from before people took over. */
export async function cancelAnswerRuns(tx: Tx, conversation: ConversationRow): Promise<void> {
  for (const run of await openAnswers(tx, conversation.id)) cancelRun(tx, conversation, run);
}

/**
 * Publishes an event for each decision. The events quote nothing from the run, so a redaction does
 * not change them.
 */
function publishDecisions(
  tx: Tx,
  conversation: ConversationRow,
  { id: run_id, agent_id }: RunRow,
  decisions: readonly CallDecision[],
): void {
  const about = subjectOf(conversation);
  for (const { call, decision, author_id, error } of decisions) {
    const { id: call_id, action } = call;
    const data = { run_id, agent_id, ...about, call_id, action, decision, author_id, error };
    appendEvent(tx, agentRunApprovalDecided, data, about);
  }
}

/** Returns whom and which conversation an event is about. */
function subjectOf({ contact_id, id: conversation_id }: ConversationRow) {
  return { contact_id, conversation_id };
}
