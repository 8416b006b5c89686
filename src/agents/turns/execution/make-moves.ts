import { withDeadline } from "../../../kernel/index.ts";
import {
  UnusableResult,
  withoutMessage,
  type Json,
  type ModelAction,
  type ModelAnswer,
  type ModelTask,
} from "../../../ports/index.ts";
import type { AgentSettings } from "../../agent-runtime.ts";
import type { Act, ModelResult, Move, MoveResult, Permissions, Think } from "../../moves.ts";
import { outcomeOf } from "../../runs/call-rules.ts";
import type { ActionCall } from "../../runs/types.ts";
import type { AgentDefinition } from "../../types.ts";
import { sendableText } from "../decision/guardrails.ts";
import { takeTurn } from "../decision/take-turn.ts";
import { newTokens } from "../save-progress.ts";
import type { Progress, TurnOutcome } from "../turn-types.ts";
import { ActionCalls, type TurnWork } from "./action-calls.ts";
import { answerForm, usageOf, validateAnswer } from "./model-answer.ts";
import { modelTurn } from "./model-turn.ts";
import { actionStep, RunSteps } from "./run-steps.ts";

export interface MoveMakerOptions extends TurnWork {
  readonly agents: AgentSettings;
  /** The host application's actions as models see them. */
  readonly modelActions: ReadonlyMap<string, ModelAction>;
}

/** Runs one turn: makes each of its moves and gives it the result. */
export class MoveMaker {
  readonly #options: MoveMakerOptions;
  readonly #deadline: number;
  readonly #steps: RunSteps;
  readonly #calls: ActionCalls;
  readonly #usage: { input_tokens: number; output_tokens: number; model_calls: number };

  constructor(options: MoveMakerOptions) {
    const {
      runtime: { clock },
      begun,
    } = options;
    const { run, agent, leased_until } = begun;
    this.#options = options;
    // The process may have stalled since the turn began. Another engine may take it at the end of
    // its lease.
    this.#deadline = Math.min(clock.now() + agent.limits.timeout_ms, leased_until);
    this.#steps = new RunSteps(clock, run.steps);
    this.#calls = new ActionCalls({
      ...options,
      left: () => this.#left(),
      progress: () => this.progress,
    });
    const { input_tokens, output_tokens, model_calls } = run;
    this.#usage = { input_tokens, output_tokens, model_calls };
  }

  /** Whether a call of an action may still be under way, also after an abort. */
  get isCalling(): boolean {
    return this.#calls.isCalling;
  }

  get progress(): Progress {
    const { begun, facts } = this.#options;
    return {
      steps: this.#steps.all,
      calls: this.#calls.all,
      read_from: earlierOf(begun.run.read_from, facts.history.firstSequence),
      usage: { ...this.#usage },
    };
  }

  /**
   * Runs the turn and returns its outcome. Undefined if this engine does not end the turn: the
   * lease was lost, a call must not be made any more, or the engine stops.
   */
  async run(): Promise<TurnOutcome | undefined> {
    const moves = takeTurn(this.#options.facts);
    let next = moves.next();
    while (next.done !== true) {
      const given = await this.#do(next.value);
      if (given === undefined || this.#options.abort.aborted) return undefined;
      next = moves.next(given);
    }
    // A call that this turn did not need, for example because it hands off, is settled too.
    if ((await this.#settle()) === undefined || this.#options.abort.aborted) return undefined;
    const source = this.#options.agents.model.source ?? "model";
    return { ...next.value, source, ...this.progress };
  }

  async #do(move: Move): Promise<MoveResult | undefined> {
    switch (move.do) {
      case "think":
        return this.#think(move);
      case "act":
        return this.#act(move);
      case "settle":
        return this.#settle();
      case "enter":
        this.#steps.enter(move);
        return { done: "noted" };
      case "leave":
        this.#steps.leave(move);
        return { done: "noted" };
    }
  }

  async #think({ task, ...permissions }: Think): Promise<ModelResult> {
    const started_at = this.#options.runtime.clock.now();
    const thought = await this.#ask(task, permissions);
    // A call that was aborted is not recorded as a failed step.
    if (thought.answer === null && this.#options.abort.aborted) return thought;
    const { text, intent, confidence, handoff, playbook_id, calls } = thought.answer ?? {};
    const output = { text, intent, confidence, handoff, playbook_id, calls };
    this.#steps.add({
      type: "model",
      name: task.type,
      input: null,
      output: thought.answer && jsonOf(output),
      error: thought.failure,
      started_at,
    });
    return thought;
  }

  /** Asks the model, if time and tokens are left. Counts the call and its tokens. */
  async #ask(task: ModelTask, permissions: Permissions): Promise<ModelResult> {
    const { runtime, abort, begun } = this.#options;
    if (this.#left() <= 0) return failed("model_timeout");
    if (this.#isBudgetSpent()) return failed("budget");
    this.#usage.model_calls++;
    try {
      const answer = await this.#respond(task, permissions);
      if (answer === "late") return failed("model_timeout");
      this.#count(answer.usage);
      return withSendableText(begun.agent, answer);
    } catch (error) {
      this.#count(usageOf(error));
      if (!abort.aborted) {
        // An error of the model itself may quote the messages that it read.
        const err = error instanceof UnusableResult ? error : withoutMessage(error);
        runtime.logger.warn({ err, run_id: begun.run.id }, "a model failed");
      }
      return failed("model_error");
    }
  }

  #isBudgetSpent(): boolean {
    const { begun, facts } = this.#options;
    const tokens = facts.session.tokens + newTokens(begun.run, this.#usage);
    return tokens >= begun.agent.limits.max_tokens_per_conversation;
  }

  /** Calls the model with what it may see, and validates its answer. */
  async #respond(task: ModelTask, permissions: Permissions): Promise<ModelAnswer | "late"> {
    const { runtime, abort, agents, begun, facts, modelActions } = this.#options;
    const turn = modelTurn({
      facts,
      task,
      ...permissions,
      actions: begun.agent.actions.flatMap((name) => modelActions.get(name) ?? []),
      calls: this.#calls.shown,
      redact: agents.redact,
    });
    const answered = await withDeadline<ModelAnswer | "late">(
      runtime.clock,
      this.#left(),
      async (signal) => agents.model.respond(turn, { signal }),
      () => "late",
      abort,
    );
    if (answered === "late") return answered;
    const { answer, wrongFields } = validateAnswer(answered, turn);
    if (wrongFields.length > 0) {
      runtime.logger.warn(
        { run_id: begun.run.id, fields: wrongFields, expected: answerForm },
        "fields of a model's answer are ignored, because they have a wrong form or name",
      );
    }
    return answer;
  }

  #count(usage: ModelAnswer["usage"]): void {
    this.#usage.input_tokens += usage?.input_tokens ?? 0;
    this.#usage.output_tokens += usage?.output_tokens ?? 0;
  }

  async #act(move: Act): Promise<MoveResult | undefined> {
    const started_at = this.#options.runtime.clock.now();
    const made = await this.#calls.make(move);
    if (made === undefined) return undefined;
    const { call, isKnown } = made;
    if (!isKnown) this.#steps.add(actionStep(call, started_at));
    const outcome = outcomeOf(call) ?? { status: "failed", error: "unknown" };
    return { done: "acted", outcome };
  }

  async #settle(): Promise<MoveResult | undefined> {
    const calls: ActionCall[] = [];
    for (const unsettled of this.#calls.unsettled) {
      const started_at = this.#options.runtime.clock.now();
      const call = await this.#calls.settle(unsettled);
      if (call === undefined) return undefined;
      this.#steps.add(actionStep(call, started_at));
      calls.push(call);
    }
    return { done: "settled", calls };
  }

  /**
   * Returns how much of the turn's time is left, in milliseconds. A clock that was set back during
   * the turn gives it no more than the limit.
   */
  #left(): number {
    const { runtime, begun } = this.#options;
    const left = Math.max(0, this.#deadline - runtime.clock.now());
    return Math.min(left, begun.agent.limits.timeout_ms);
  }
}

/** Returns the lower of two sequence numbers. Null if both are null. */
function earlierOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function failed(failure: NonNullable<ModelResult["failure"]>): ModelResult {
  return { done: "thought", answer: null, failure };
}

/** Returns the answer without a text that may not be sent. */
function withSendableText(agent: AgentDefinition, answer: ModelAnswer): ModelResult {
  if (answer.text === undefined) return { done: "thought", answer, failure: null };
  const text = sendableText(agent, answer.text);
  const failure = text === undefined ? "guardrail" : null;
  return { done: "thought", answer: { ...answer, text }, failure };
}

function jsonOf(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
