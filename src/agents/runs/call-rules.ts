/** The calls of actions that a run records, and the decisions about those that need an approval. */
import { dayMs, iso } from "../../kernel/index.ts";
import type { ModelCall } from "../../ports/index.ts";
import { redactedCall, redactedStep } from "./redaction-rules.ts";
import type { RunRow } from "./rows.ts";
import { keptSteps } from "./rules.ts";
import type { RunStep } from "./step-types.ts";
import type { ActionCall } from "./types.ts";

export function withCall(calls: readonly ActionCall[], call: ActionCall): readonly ActionCall[] {
  const i = calls.findIndex(({ id }) => id === call.id);
  return i === -1 ? [...calls, call] : calls.with(i, call);
}

/**
 * Returns the calls of a run without a call that was recorded and then not made. If it continued an
 * earlier call, that one is restored. `earlier` is the earlier call as it was recorded. If the run
 * was redacted since, the call is restored without its words.
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

type CallsAndSteps = Pick<RunRow, "calls" | "steps">;

/**
 * Returns a run's calls and steps after a call has ended. If the run was canceled and redacted
 * during the call, the call and its step are recorded without words.
 */
export function afterCall(
  { calls, steps }: CallsAndSteps,
  call: ActionCall,
  step: RunStep,
): CallsAndSteps {
  const isRedacted = calls.some(({ id, redacted }) => id === call.id && redacted === true);
  return {
    calls: withCall(calls, isRedacted ? redactedCall(call) : call),
    steps: keptSteps([...steps, isRedacted ? redactedStep(step) : step]),
  };
}

/** How long an action waits for an approval before it is denied, in milliseconds: one day. */
export const approvalMs = dayMs;

/**
 * Returns the calls of a run whose turn ends while some of them wait for an approval. The others
 * are marked, so that the next turn does not use them: it may call the same action with the same
 * input again, and must not get the outcome of the earlier call.
 */
export function callsAfterTurn(calls: readonly ActionCall[], now: number): readonly ActionCall[] {
  return calls.map((call) =>
    // A call that already waited before the turn keeps its deadline.
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

/** Returns the outcome of a call that has ended or waits for approval, otherwise undefined. */
export function outcomeOf({ status, output, error }: ActionCall): ModelCall["outcome"] | undefined {
  switch (status) {
    case "done":
      return { status, output };
    case "failed":
    case "denied":
      return { status: "failed", error: error ?? status };
    case "awaiting_approval":
      return { status };
    default:
      return undefined;
  }
}

/** A decision about a call that waits for an approval. */
export interface CallDecision {
  readonly call: ActionCall;
  readonly decision: "approve" | "deny";
  /** Who decided. Null if unknown, or if nobody did. */
  readonly author_id: string | null;
  /** Why the call is denied although nobody decided. Null if somebody did. */
  readonly error: "approval_timeout" | "run_ended" | null;
  /** When the decision was made, in milliseconds since the epoch. */
  readonly at: number;
}

/** Returns the denials of the calls about which nobody decided in time. */
export function overdueDenials(calls: readonly ActionCall[], at: number): readonly CallDecision[] {
  return calls
    .filter((call) => isWaiting(call) && (call.approve_by ?? 0) <= at)
    .map((call) => ({ ...noAuthor, call, error: "approval_timeout", at }));
}

/**
 * Returns the denials of all waiting calls of a run that ends, because nobody can decide about them
 * any more. So the run shows that they were not made.
 */
export function finalDenials(calls: readonly ActionCall[], at: number): readonly CallDecision[] {
  return calls.filter(isWaiting).map((call) => ({ ...noAuthor, call, error: "run_ended", at }));
}

const noAuthor = { decision: "deny", author_id: null } as const;

/** Returns a run's calls and steps after decisions about some of its calls. */
export function afterDecisions(
  { calls, steps }: CallsAndSteps,
  decisions: readonly CallDecision[],
): CallsAndSteps {
  const decided = new Map(decisions.map(({ call, decision }) => [call.id, decision]));
  return {
    calls: calls.map((call) => {
      const decision = decided.get(call.id);
      if (decision === undefined) return call;
      return decision === "approve"
        ? { ...call, status: "approved" }
        : { ...call, status: "denied", error: "denied" };
    }),
    steps: keptSteps([...steps, ...decisions.map(approvalStep)]),
  };
}

function approvalStep({ call, decision, author_id, error, at }: CallDecision): RunStep {
  return {
    type: "approval",
    name: call.action,
    input: { call_id: call.id, author_id },
    output: decision,
    error,
    started_at: iso(at),
    duration_ms: 0,
  };
}
