import { admitOneMore, minuteMs } from "../../kernel/index.ts";
import type { RunRow } from "./rows.ts";
import type { RunStep } from "./step-types.ts";

/** The maximum number of steps that are kept of a run. */
export const maxKeptSteps = 200;

/** The maximum number of messages of a conversation that a turn has as its history. */
export const maxHistory = 30;

/**
 * The maximum number of messages of a conversation that a turn reads to find its history: those
 * that were not sent do not count. A redaction relies on it: a run in progress has read no earlier
 * ones (`mayQuote`).
 */
export const maxReadForHistory = 1_000;

/** Returns when the next reply is within the limit per minute, in milliseconds since the epoch. */
export function mayReplyAt(replied_at: readonly number[], max: number, now: number): number {
  const decision = admitOneMore(replied_at, { max, windowMs: minuteMs }, now);
  return decision.admitted ? now : now + decision.retryAfterMs;
}

/** Whether a run answers messages: it was not triggered and does not continue after an approval. */
export function answersMessages({
  request,
  resumed,
}: Pick<RunRow, "request" | "resumed">): boolean {
  return request === null && !resumed;
}

/**
 * Returns the steps that are kept of a run. If there are too many, the latest are dropped, except
 * the decisions about approvals: a run has few of them, and they say who allowed what.
 */
export function keptSteps(steps: readonly RunStep[]): readonly RunStep[] {
  if (steps.length <= maxKeptSteps) return steps;
  const isDecision = ({ type }: RunStep): boolean => type === "approval";
  let others = maxKeptSteps - steps.filter(isDecision).length;
  return steps.filter((step) => isDecision(step) || others-- > 0);
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
