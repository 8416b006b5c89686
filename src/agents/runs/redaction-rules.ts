/** Which runs and sessions may contain words of a message, and what a redaction leaves of a run. */
import type { MessageRow } from "../../messages/index.ts";
import type { AgentSessionRow } from "../rows.ts";
import type { RunRow } from "./rows.ts";
import { maxHistory, maxReadForHistory } from "./rules.ts";
import type { RunStep } from "./step-types.ts";
import type { ActionCall } from "./types.ts";

type ReadingRun = Pick<
  RunRow,
  "message_ids" | "heard_through" | "read_from" | "playbook_id" | "open" | "finished_at"
>;

/**
 * Whether a run may contain words of a message, or may store them until it has ended. It has read
 * the messages that it answers, and its history until it ended. The slots of a playbook may contain
 * words of any earlier message, because a playbook has no limit of messages. `moved_count` of the
 * conversation is needed only for a run in progress: each move leaves a number unused.
 */
export function mayQuote(
  run: ReadingRun,
  { id, sequence, created_at }: Pick<MessageRow, "id" | "sequence" | "created_at">,
  moved_count: number | null = null,
): boolean {
  const isBeforeEnd = (run.finished_at ?? Infinity) >= created_at;
  const isRead = run.playbook_id !== null || sequence >= firstReadBy(run, moved_count ?? 0);
  return (isBeforeEnd && isRead) || run.message_ids.includes(id);
}

/**
 * Returns the sequence number of the first message that a run may have in a history. A run that
 * answers no messages may have any.
 */
function firstReadBy({ heard_through, read_from, open }: ReadingRun, unused: number): number {
  // A turn stores what it has read only together with what it did. It may be reading now.
  if (open === true) return heard_through - maxReadForHistory - unused + 1;
  // A turn that stored nothing may have read the latest messages.
  return Math.min(read_from ?? Infinity, heard_through - maxHistory + 1);
}

/**
 * Whether the slots of the playbooks in progress may contain words of a message. Each of their
 * turns has written the session. A turn has read the messages that it answered, which may be any
 * earlier ones, and the latest messages of the conversation.
 */
export function playMayQuote(
  { frames, updated_at }: Pick<AgentSessionRow, "frames" | "updated_at">,
  { created_at }: Pick<MessageRow, "created_at">,
): boolean {
  return frames.length > 0 && created_at <= updated_at;
}

/**
 * Returns an ended run's columns without the words that were read and written. What was done, when,
 * and with which status remains.
 */
export function redactedRun({
  steps,
  calls,
}: Pick<RunRow, "steps" | "calls">): Pick<RunRow, "steps" | "calls" | "result"> {
  return {
    steps: steps.map(redactedStep),
    calls: calls.map(redactedCall),
    result: null,
  };
}

const noWords = { input: null, output: null, error: null };

export function redactedStep(step: RunStep): RunStep {
  return { ...step, ...noWords };
}

/** Returns a call without its words. The call is marked, because it may still be under way. */
export function redactedCall(call: ActionCall): ActionCall {
  return { ...call, ...noWords, redacted: true };
}
