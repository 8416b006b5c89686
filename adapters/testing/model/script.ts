/** What a scripted model answers to the turns of agents. */
import type { ModelAnswer, ModelTask, ModelTurn } from "../../../src/ports/index.ts";
import { matchesText, stepFor } from "../scripts/rules.ts";

/** The model answers. */
export interface ModelAnswers {
  /** The model answers. */
  readonly outcome: "answered";
  /** The answer: a reply, actions to call, a playbook, a hand-off. */
  readonly answer: ModelAnswer;
  /**
   * How long the answer takes in a world, in milliseconds.
   * @default 500
   */
  readonly afterMs?: number | undefined;
}

/** The model answers, but the answer is lost: the engine gets an error. */
export interface ModelAnswerIsLost {
  /** The model answers, but the answer is lost: the engine gets an error. */
  readonly outcome: "answer_lost";
  /** The answer. Default: a reply. */
  readonly answer?: ModelAnswer | undefined;
}

/** The model fails. */
export interface ModelFails {
  /** The model fails. */
  readonly outcome: "fails";
  /** The message of the error. Default: one that quotes the contact, as errors of models may. */
  readonly message?: string | undefined;
}

/** The model never answers. */
export interface ModelHangs {
  /** The model never answers. */
  readonly outcome: "hangs";
}

/** What happens to one request to a model. */
export type ModelOutcome = ModelAnswers | ModelAnswerIsLost | ModelFails | ModelHangs;

/** An outcome, an answer, or the text of a reply. */
export type ScriptedAnswer = ModelOutcome | ModelAnswer | string;

/** What the model does in the turns that match. A rule without conditions matches every turn. */
export interface ModelRule {
  /** A part of the contact's last message, or a pattern that it matches. */
  readonly text?: string | RegExp | undefined;
  /** The kind of task. Default: every kind. */
  readonly task?: ModelTask["type"] | undefined;
  /**
   * What happens to the first request about the same messages, the second, and so on. The last one
   * repeats. An engine asks again after it has called actions, and after a crash.
   */
  readonly answers: readonly [ScriptedAnswer, ...ScriptedAnswer[]];
}

/** Rules or a function. The first rule that matches decides. Undefined means a reply of thanks. */
export type ModelScript =
  readonly ModelRule[] | ((request: TurnAtModel) => ScriptedAnswer | undefined);

/** A request as a model gets it. */
export interface TurnAtModel {
  /** What the model sees. */
  readonly turn: ModelTurn;
  /** 1 for the first request about the same messages and the same kind of task. */
  readonly number: number;
  /** When it came, in milliseconds since the epoch by the world's clock. 0 outside of a world. */
  readonly at: number;
  /** The engine that asked. Empty outside of a world. */
  readonly engine: string;
}

/** A request to a model, as the model recorded it. */
export interface ModelRequest extends TurnAtModel {
  /** The outcome. Null while the request is under way, and if the engine crashed before its end. */
  readonly outcome: ModelOutcome["outcome"] | null;
  /** The answer, even if it was lost. Null if there is none. */
  readonly answer: ModelAnswer | null;
}

/** A lost answer that has a content. */
type LostAnswer = ModelAnswerIsLost & { readonly answer: ModelAnswer };

const defaultAnswer: ModelAnswer = { text: "Thank you for your message." };

/** What the script says about a request. */
export function outcomeOf(
  script: ModelScript,
  request: TurnAtModel,
): Exclude<ModelOutcome, ModelAnswerIsLost> | LostAnswer {
  const reader = { matches, stepsOf: ({ answers }: ModelRule) => answers };
  const chosen = stepFor(script, request, reader) ?? defaultAnswer;
  if (typeof chosen === "string") return { outcome: "answered", answer: { text: chosen } };
  if (!("outcome" in chosen)) return { outcome: "answered", answer: chosen };
  if (chosen.outcome !== "answer_lost") return chosen;
  return { ...chosen, answer: chosen.answer ?? defaultAnswer };
}

function matches({ text, task }: ModelRule, { turn }: TurnAtModel): boolean {
  return (task === undefined || task === turn.task.type) && matchesText(text, lastSaid(turn));
}

/** The contact's last message. Empty if there is none. */
export function lastSaid({ messages }: ModelTurn): string {
  return messages.findLast(({ from }) => from === "contact")?.text ?? "";
}
