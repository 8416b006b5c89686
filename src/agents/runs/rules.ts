import type { Json, ModelCall, ModelTask } from "../../ports/index.ts";
import type { ConversationId, Scope } from "../../kernel/index.ts";
import type { JobOrder } from "../../queue/index.ts";
import type { ActionCall, Moves, RunRequest, RunStep, Thought } from "./types.ts";

/** @throws TypeError when something else was given: whoever runs a turn gives what was asked for */
export function* act(
  action: string,
  input: Json,
  by: "model" | "host" = "host",
): Moves<ModelCall["outcome"]> {
  const given = yield { do: "act", action, input, by };
  if (given.done !== "acted") {
    throw new TypeError("an action was asked for, and something else was given");
  }
  return given.outcome;
}

interface Leave {
  readonly acts: boolean;
  readonly isFree: boolean;
}

/** By default the model can only say something. */
export function* think(
  task: ModelTask,
  { acts, isFree }: Leave = { acts: false, isFree: false },
): Moves<Thought> {
  const given = yield { do: "think", task, acts, isFree };
  if (given.done !== "thought") {
    throw new TypeError("an answer was asked for, and something else was given");
  }
  return given;
}

/** Runs an agent's turn in a conversation. */
export function turnJob(
  { account_id, mode, id: conversation_id }: Scope & { readonly id: ConversationId },
  due_at: number,
): JobOrder<"turn"> {
  const lane = { kind: "turn", slow: false, account_id, mode } as const;
  return { kind: "turn", key: { conversation_id }, account_id, mode, lane, due_at };
}

/** Handles a conversation that nobody took from the queue in time. */
export function queueTimeoutJob(
  { account_id, mode, conversation_id }: Scope & { readonly conversation_id: ConversationId },
  due_at: number,
): JobOrder<"queue-timeout"> {
  const lane = { kind: "queue-timeout", slow: false } as const;
  return { kind: "queue-timeout", key: { conversation_id }, account_id, mode, lane, due_at };
}

const minuteMs = 60_000;

/** When one more reply is within the limit of each minute, by the times of those before; in milliseconds. */
export function mayReplyAt(replied_at: readonly number[], most: number, now: number): number {
  const recent = repliesBefore(replied_at, now);
  const first = recent.at(-most);
  return first === undefined ? now : first + minuteMs;
}

/** The replies of the last minute, oldest first. */
export function repliesBefore(replied_at: readonly number[], now: number): readonly number[] {
  return replied_at.filter((at) => at > now - minuteMs);
}

/** What was ordered, or waited for an approval: it answers nothing that the contact has just written. */
export function isAside({
  request,
  resumed,
}: {
  readonly request: RunRequest | null;
  readonly resumed: boolean;
}): boolean {
  return request !== null || resumed;
}

/** The calls of a run with one that is new, or that has come further. */
export function withCall(calls: readonly ActionCall[], call: ActionCall): readonly ActionCall[] {
  const i = calls.findIndex(({ id }) => id === call.id);
  return i === -1 ? [...calls, call] : calls.with(i, call);
}

/** What becomes of the calls of a run that nobody approved. */
export function denied({ calls }: { readonly calls: readonly ActionCall[] }): {
  readonly calls: ActionCall[];
} {
  return {
    calls: calls.map((call) =>
      call.status === "awaiting_approval" ? { ...call, status: "denied", error: "denied" } : call,
    ),
  };
}

/** A day: how long somebody may take to approve an action, in milliseconds. Then it is denied. */
export const approvalMs = 86_400_000;

/** How far back in a conversation a model is shown what was said, in messages. */
export const mostMessagesShown = 30;

/** Whether a message's words may stand in a run: it was there before the run ended, and not too far back to be looked at. */
export function mayQuote(
  { heard, finished_at }: { readonly heard: number; readonly finished_at: number | null },
  message: { readonly sequence: number; readonly created_at: number },
): boolean {
  return (
    (finished_at ?? Infinity) >= message.created_at && heard < message.sequence + mostMessagesShown
  );
}

/** Of a conversation, that are looked at together. */
export const mostOpenRuns = 50;

/** What is left of a run that has ended without the words that were read and written in it: what was done, when, and how it went. */
export function wordless({
  steps,
  calls,
}: {
  readonly steps: readonly RunStep[];
  readonly calls: readonly ActionCall[];
}): {
  readonly steps: RunStep[];
  readonly calls: ActionCall[];
  readonly result: null;
} {
  const none = { input: null, output: null, error: null };
  return {
    steps: steps.map((step) => ({ ...step, ...none })),
    calls: calls.map((call) => ({ ...call, ...none })),
    result: null,
  };
}
