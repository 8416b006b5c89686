/**
 * The moves of a turn. A turn is a generator: it yields the next move, receives the result, and
 * returns the ending. It has no side effects, so after a crash it runs again with the results that
 * the run has recorded.
 */
import type { PlaybookId } from "../kernel/index.ts";
import type { Json, ModelAnswer, ModelCall, ModelTask } from "../ports/index.ts";
import type { PlaybookStepOutcome } from "./runs/step-types.ts";
import type { ActionCall } from "./runs/types.ts";

export type TurnMoves<T> = Generator<Move, T, MoveResult>;

export type Move = Act | Settle | Think | EnterStep | LeaveStep;

/** Calls an action. */
export interface Act {
  readonly do: "act";
  readonly action: string;
  readonly input: Json;
  /**
   * A model may only call the actions that its agent lists. Playbooks and triggers come from the
   * host application and may call any action.
   */
  readonly by: "model" | "host";
}

/** Makes the calls that a person has approved, or that an earlier turn left under way. */
interface Settle {
  readonly do: "settle";
}

/** Asks the model. */
export interface Think extends Permissions {
  readonly do: "think";
  readonly task: ModelTask;
}

/** What the model may do besides answering. */
export interface Permissions {
  /** Whether the model sees actions, and the calls that it asks for are made. */
  readonly mayCallActions: boolean;
  readonly mayStartPlaybook: boolean;
}

/** Notes that a step of a playbook is entered, or returned to in a later turn. */
export interface EnterStep {
  readonly do: "enter";
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The id of the step. */
  readonly step: string;
}

/** Notes why the step that was entered last, and has not been left, is left. */
export interface LeaveStep {
  readonly do: "leave";
  readonly outcome: PlaybookStepOutcome;
  readonly next: string | null;
  readonly output: Json;
  readonly error: string | null;
}

export type MoveResult =
  | { readonly done: "acted"; readonly outcome: ModelCall["outcome"] }
  | { readonly done: "settled"; readonly calls: readonly ActionCall[] }
  | ModelResult
  | { readonly done: "noted" };

/**
 * The result of asking a model. `failure` says why there is no answer. With `guardrail`, only its
 * text was removed.
 */
export interface ModelResult {
  readonly done: "thought";
  readonly answer: ModelAnswer | null;
  readonly failure: ModelFailure | null;
}

export type ModelFailure = "model_error" | "model_timeout" | "budget" | "guardrail";

/**
 * Calls an action.
 * @throws TypeError if the result is of another move, a bug of the caller
 */
export function* act(
  action: string,
  input: Json,
  by: "model" | "host" = "host",
): TurnMoves<ModelCall["outcome"]> {
  const given = yield { do: "act", action, input, by };
  if (given.done !== "acted") {
    throw new TypeError("the result of an action was expected");
  }
  return given.outcome;
}

/**
 * Makes the calls of the run that a person has approved, or that an earlier turn left under way.
 * Returns those that failed.
 * @throws TypeError if the result is of another move, a bug of the caller
 */
export function* settle(): TurnMoves<readonly ActionCall[]> {
  const given = yield { do: "settle" };
  if (given.done !== "settled") {
    throw new TypeError("the settled calls were expected");
  }
  return given.calls.filter(({ status }) => status === "failed");
}

/**
 * Asks the model. By default it may neither call actions nor start a playbook.
 * @throws TypeError if the result is of another move, a bug of the caller
 */
export function* think(
  task: ModelTask,
  permissions: Permissions = { mayCallActions: false, mayStartPlaybook: false },
): TurnMoves<ModelResult> {
  const given = yield { do: "think", task, ...permissions };
  if (given.done !== "thought") {
    throw new TypeError("the answer of a model was expected");
  }
  return given;
}
