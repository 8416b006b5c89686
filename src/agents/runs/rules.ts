import { type ConversationId, dayMs, iso, minuteMs, type Scope } from "../../kernel/index.ts";
import type { JobOrder } from "../../queue/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { AgentSessionRow } from "../rows.ts";
import type { RunRow } from "./rows.ts";
import type { RunStep } from "./step-types.ts";
import type { ActionCall } from "./types.ts";

/** Returns the job that runs an agent's turn in a conversation. */
export function turnJob(
  { account_id, mode, id: conversation_id }: Scope & { readonly id: ConversationId },
  due_at: number,
): JobOrder<"turn"> {
  const lane = { kind: "turn", slow: false, account_id, mode } as const;
  return { kind: "turn", key: { conversation_id }, account_id, mode, lane, due_at };
}

/** Returns when the next reply is within the limit per minute, in milliseconds since the epoch. */
export function mayReplyAt(replied_at: readonly number[], max: number, now: number): number {
  const recent = withinLastMinute(replied_at, now);
  const first = recent.at(-max);
  return first === undefined ? now : first + minuteMs;
}

/**
 * Returns the times within the last minute. Ignores times in the future: the clock was set back,
 * and their real age is unknown.
 */
export function withinLastMinute(times: readonly number[], now: number): readonly number[] {
  return times.filter((at) => at > now - minuteMs && at <= now);
}

/** Whether a run answers messages: it was not triggered and does not continue after an approval. */
export function answersMessages({
  request,
  resumed,
}: Pick<RunRow, "request" | "resumed">): boolean {
  return request === null && !resumed;
}

/** Adds a call to the calls of a run, or replaces it. */
export function withCall(calls: readonly ActionCall[], call: ActionCall): readonly ActionCall[] {
  const i = calls.findIndex(({ id }) => id === call.id);
  return i === -1 ? [...calls, call] : calls.with(i, call);
}

/**
 * Returns the calls without one that was not made after all. `earlier` is the call that it would
 * have continued, as it was recorded. If the run was redacted since, `earlier` keeps no words.
 */
export function withoutCall(
  calls: readonly ActionCall[],
  { id }: ActionCall,
  earlier: ActionCall | undefined,
): readonly ActionCall[] {
  const undo = (call: ActionCall): readonly ActionCall[] => {
    if (earlier === undefined) return [];
    return [call.redacted === true ? redactedCall(earlier) : earlier];
  };
  return calls.flatMap((call) => (call.id === id ? undo(call) : [call]));
}

/** The maximum number of steps that are kept of a run. Later ones are dropped. */
export const maxSteps = 200;

/**
 * Returns a run's calls and steps after a call has ended. If the run was canceled and redacted
 * during the call, they say what was done, without the words.
 */
export function afterCall(
  { calls, steps }: Pick<RunRow, "calls" | "steps">,
  call: ActionCall,
  step: RunStep,
): Pick<RunRow, "calls" | "steps"> {
  const isRedacted = calls.some(({ id, redacted }) => id === call.id && redacted === true);
  return {
    calls: withCall(calls, isRedacted ? redactedCall(call) : call),
    steps: [...steps, isRedacted ? { ...step, ...noWords } : step].slice(0, maxSteps),
  };
}

/**
 * Returns the calls of a run whose turn ends while some of them wait for an approval. The next turn
 * begins where this one ended. It must not take the outcome of an earlier call for that of its own
 * call of the same action with the same input. It needs only the calls that still wait.
 */
export function callsAfterTurn(calls: readonly ActionCall[], now: number): readonly ActionCall[] {
  return calls.map((call) =>
    // A call that waited before the turn waits no longer than its first day.
    isWaiting(call)
      ? { ...call, approve_by: call.approve_by ?? now + approvalMs }
      : { ...call, turn_ended: true },
  );
}

/** Returns when the first of a run's waiting calls is denied, in milliseconds since the epoch. */
export function firstDenialOf(calls: readonly ActionCall[]): number {
  return Math.min(...calls.filter(isWaiting).map(({ approve_by }) => approve_by ?? 0));
}

export const isWaiting = ({ status }: ActionCall): boolean => status === "awaiting_approval";

type CallsAndSteps = Pick<RunRow, "calls" | "steps">;

/** Returns a run's calls and steps after nobody decided about waiting calls in time. */
export function denyOverdueCalls(run: CallsAndSteps, at: number): CallsAndSteps {
  return denyCalls(run, {
    which: (call) => (call.approve_by ?? 0) <= at,
    error: "approval_timeout",
    at,
  });
}

/**
 * Returns the calls and steps of a run that ends. Its waiting calls are denied, because nobody can
 * decide about them any more. So the run shows that they were not made.
 */
export function denyOpenCalls(run: CallsAndSteps, at: number): CallsAndSteps {
  return denyCalls(run, { which: () => true, error: "run_ended", at });
}

interface Denial extends Pick<Decision, "at"> {
  /** Which of the waiting calls are denied. */
  readonly which: (call: ActionCall) => boolean;
  readonly error: string;
}

function denyCalls({ calls, steps }: CallsAndSteps, { which, error, at }: Denial): CallsAndSteps {
  const isDenied = (call: ActionCall): boolean => isWaiting(call) && which(call);
  const decision = { decision: "deny", author_id: null, error, at } as const;
  return {
    calls: calls.map((call) =>
      isDenied(call) ? { ...call, status: "denied", error: "denied" } : call,
    ),
    steps: [...steps, ...calls.filter(isDenied).map((call) => approvalStep(call, decision))],
  };
}

interface Decision {
  readonly decision: "approve" | "deny";
  readonly author_id: string | null;
  /** Why nobody decided. */
  readonly error?: string;
  readonly at: number;
}

/** Returns the step of a run that records the decision about a call. */
export function approvalStep(
  { id, action }: ActionCall,
  { decision, author_id, error, at }: Decision,
): RunStep {
  return {
    type: "approval",
    name: action,
    input: { call_id: id, author_id },
    output: decision,
    error: error ?? null,
    started_at: iso(at),
    duration_ms: 0,
  };
}

/**
 * Returns the recorded steps without the path of a turn that did not conclude. Such a turn is taken
 * again from where the session stands, and its path is recorded anew. An approval can only follow a
 * turn that has concluded, so the path before it stays.
 */
export function concludedSteps(steps: readonly RunStep[]): RunStep[] {
  const last = steps.findLastIndex(({ type }) => type === "approval");
  return steps.filter(({ type }, place) => place < last || type !== "playbook");
}

/** How long an action waits for an approval before it is denied, in milliseconds: one day. */
export const approvalMs = dayMs;

/** The maximum number of messages of a conversation that a turn reads as its history. */
export const maxHistory = 30;

/**
 * The maximum number of messages that one turn answers. If there are more, only the latest are
 * read.
 */
export const maxUnanswered = 50;

/**
 * Whether a run may contain words of a message, or may store them until it has ended. It has read
 * the messages that it answers, and the latest messages of the conversation until it ended. The
 * slots of a playbook may contain words of any earlier message, because a playbook has no limit of
 * messages.
 */
export function mayQuote(
  {
    message_ids,
    heard_through,
    playbook_id,
    finished_at,
  }: Pick<RunRow, "message_ids" | "heard_through" | "playbook_id" | "finished_at">,
  { id, sequence, created_at }: Pick<MessageRow, "id" | "sequence" | "created_at">,
): boolean {
  const isBeforeEnd = (finished_at ?? Infinity) >= created_at;
  const isRead = playbook_id !== null || heard_through < sequence + maxHistory;
  return (isBeforeEnd && isRead) || message_ids.includes(id);
}

/**
 * Whether the slots of the playbooks in progress may contain words of a message. The playbooks
 * began after `guarded_from`, and each of their turns has written the session. It has read the
 * messages that it answered, and the latest messages of the conversation.
 */
export function playMayQuote(
  {
    frames,
    guarded_from,
    updated_at,
  }: Pick<AgentSessionRow, "frames" | "guarded_from" | "updated_at">,
  { sequence, created_at }: Pick<MessageRow, "sequence" | "created_at">,
): boolean {
  const isRead = sequence > guarded_from - Math.max(maxHistory, maxUnanswered);
  return frames.length > 0 && isRead && created_at <= updated_at;
}

/** The maximum number of open runs of a conversation that are read at once. */
export const maxOpenRuns = 50;

/**
 * Returns an ended run's columns without the words that were read and written. What was done, when,
 * and with which status remains.
 */
export function redactedRun({
  steps,
  calls,
}: Pick<RunRow, "steps" | "calls">): Pick<RunRow, "steps" | "calls" | "result"> {
  return {
    steps: steps.map((step) => ({ ...step, ...noWords })),
    calls: calls.map(redactedCall),
    result: null,
  };
}

const noWords = { input: null, output: null, error: null };

function redactedCall(call: ActionCall): ActionCall {
  return { ...call, ...noWords, redacted: true };
}
