import { agentRunCompleted } from "./events.ts";
import { openRuns, runById, runForEvent, type RunRow, runs } from "./runs/rows.ts";
import { answersMessages, maxOpenRuns, withCall } from "./runs/rules.ts";
import { conversationById, type ConversationRow, conversations } from "../conversations/index.ts";
import { appendEvent, completedEventId } from "../events/index.ts";
import type { GenerateId } from "../kernel/index.ts";
import type { MessageRow } from "../messages/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { agentById, agentSessionOf, agentSessions } from "./rows.ts";
import type { ActionCall } from "./runs/types.ts";
import { answersIn } from "./session.ts";
import { findUnanswered } from "./answered-messages.ts";
import type { FoundTurn, Progress } from "./turns/turn-types.ts";
import { type Claim, leaseMs, renew } from "../queue/index.ts";

type Begun = Pick<RunRow, "agent_id" | "agent_revision" | "playbook_id" | "trigger">;
type Cause = Pick<RunRow, "message_ids" | "heard_through"> | Pick<RunRow, "request">;

/**
 * Inserts a run, for messages of the contact or for a trigger. The conversation's next turn works
 * on it.
 */
export function beginRun(
  tx: Tx,
  drawId: GenerateId,
  conversation: Seen<ConversationRow>,
  run: Begun & Cause,
): Seen<RunRow> {
  // A redaction under way must find the run, which reads the messages.
  tx.touch(conversations, conversation);
  return tx.insert(runs, {
    id: drawId("run"),
    message_ids: [],
    heard_through: 0,
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

/** Ends a run and publishes the event. */
export function endRun(
  tx: Tx,
  drawId: GenerateId,
  { contact_id, id: conversation_id }: Pick<ConversationRow, "contact_id" | "id">,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "status">,
): void {
  const ended = tx.update(runs, run, {
    ...patch,
    open: null,
    approve_by: null,
    finished_at: tx.now,
  });
  const data = { run: runForEvent(ended) };
  const about = { contact_id, conversation_id };
  appendEvent(tx, drawId, agentRunCompleted, data, about, completedEventId(run.id));
}

/** Cancels the runs that answer messages. They may still be open from before people took over. */
export async function cancelAnswerRuns(
  tx: Tx,
  drawId: GenerateId,
  conversation: ConversationRow,
): Promise<void> {
  const open = await tx.list(openRuns, [conversation.id], maxOpenRuns);
  for (const run of open) {
    if (answersMessages(run)) endRun(tx, drawId, conversation, run, { status: "canceled" });
  }
}

type Rows = Omit<FoundTurn, "agent">;

export type RunState =
  | (Rows & {
      readonly state: "current";
      /** The address of the last message that the run answers. Undefined if it answers none. */
      readonly answeredTo: string | undefined;
    })
  /**
   * The contact has written more. A triggered or resumed run waits until those messages are
   * answered. A run that answers messages takes them in.
   */
  | (Rows & { readonly state: "overtaken" })
  /**
   * The agent no longer handles the conversation, its messages are answered, or the run is not
   * open.
   */
  | { readonly state: "closed" };

/**
 * Returns how a run stands: whether it may still act and reply. The rows are locked: a concurrent
 * change by a person, the contact or an erasure commits either before this and is seen, or after
 * it.
 */
export async function readRunState(
  tx: Tx,
  { id, agent_id, conversation_id }: RunRow,
): Promise<RunState> {
  const [run, conversation, session, agent] = await Promise.all([
    tx.get(runById, [id], { hold: true }),
    tx.get(conversationById, [conversation_id], { hold: true }),
    tx.get(agentSessionOf, [conversation_id], { hold: true }),
    tx.get(agentById, [agent_id], { hold: true }),
  ]);
  if (run?.open !== true || conversation === undefined) return { state: "closed" };
  // A single action sends nothing.
  if (run.request?.type === "action") {
    return { state: "current", run, conversation, session: null, answeredTo: undefined };
  }
  if (session === undefined || !answersIn(agent, conversation)) return { state: "closed" };
  const rows = { run, conversation, session };
  const last = (await findUnanswered(tx, conversation, session)).at(-1);
  // Otherwise the waiting messages would be read as the answer to a question that is sent now.
  if (!answersMessages(run)) {
    if (last !== undefined) return { state: "overtaken", ...rows };
    return { state: "current", ...rows, answeredTo: undefined };
  }
  // Nothing is left to answer: a person answered before handing the conversation back.
  if (last === undefined) return { state: "closed" };
  if (last.sequence > run.heard_through) return { state: "overtaken", ...rows };
  return { state: "current", ...rows, answeredTo: last.from };
}

/**
 * Saves the steps, calls and usage of a turn, whatever its outcome. Otherwise calls could be made
 * twice, and tokens would not be counted.
 */
export function saveProgress(
  tx: Tx,
  { run, session }: Pick<Rows, "run" | "session">,
  { steps, calls, usage }: Progress,
): void {
  if (session !== null) {
    tx.update(agentSessions, session, {
      tokens: session.tokens + newTokens(run, usage),
      updated_at: tx.now,
    });
  }
  tx.update(runs, run, { steps, calls, ...usage });
}

/** Returns the tokens used since the run was last written. */
export function newTokens(run: RunRow, { input_tokens, output_tokens }: Progress["usage"]): number {
  return input_tokens + output_tokens - run.input_tokens - run.output_tokens;
}

interface PendingCall {
  readonly call: ActionCall;
  /** The progress before the call. */
  readonly progress: Progress;
}

/**
 * Records that an action is about to be called. Returns false if it must not be called: the lease
 * was lost, the contact has written again, or the run may no longer act, for example because a
 * person has taken over the conversation.
 */
export async function recordPendingCall(
  tx: Tx,
  claim: Claim<"turn">,
  { run }: Pick<FoundTurn, "run">,
  { call, progress }: PendingCall,
): Promise<boolean> {
  if (!(await renew(tx, claim, leaseMs))) return false;
  const current = await readRunState(tx, run);
  if (current.state === "closed") return false;
  const isCurrent = current.state === "current";
  // A call id counts the saved calls. So this call is saved together with the earlier ones, and ids
  // stay unique after a crash.
  saveProgress(
    tx,
    current,
    isCurrent ? { ...progress, calls: withCall(progress.calls, call) } : progress,
  );
  return isCurrent;
}

/**
 * Undoes `recordPendingCall` for a call that was not made after all. `earlier` is the recorded call
 * that it would have continued. Under a lost lease, the call belongs to another engine by now.
 */
export async function takeBackCall(
  tx: Tx,
  claim: Claim<"turn">,
  { id }: RunRow,
  call: ActionCall,
  earlier: ActionCall | undefined,
): Promise<void> {
  if (!(await renew(tx, claim, leaseMs))) return;
  const run = await tx.get(runById, [id]);
  if (run === undefined) return;
  const calls = run.calls.flatMap((each) => (each.id === call.id ? (earlier ?? []) : each));
  tx.update(runs, run, { calls });
}

/**
 * Records the result of a call. It is saved even if another turn has taken over the run, because
 * the action was really done.
 */
export async function recordCall(tx: Tx, { id }: RunRow, call: ActionCall): Promise<void> {
  const run = await tx.get(runById, [id]);
  const before = run?.calls.find((each) => each.id === call.id);
  if (run === undefined || before?.status !== "pending") return;
  tx.update(runs, run, { calls: withCall(run.calls, call) });
}
