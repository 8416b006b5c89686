import {
  functionOption,
  memberOf,
  optionsObject,
  parseOptions,
} from "../../../src/kernel/index.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../../src/ports/index.ts";
import {
  outcomeOption,
  patternCondition,
  scriptOption,
  textCondition,
} from "../scripts/options.ts";
import { callWhileAlive, never } from "../world/engine-run.ts";
import { maxDelayMs } from "../world/faults.ts";
import { Connectors } from "../world/ports/connectors.ts";
import { joinWorld, type RunContext } from "../world/run-context.ts";
import { quoted } from "../world/story.ts";
import {
  lastSaid,
  outcomeOf,
  type ModelOutcome,
  type ModelRequest,
  type ModelScript,
} from "./script.ts";

const defaultAfterMs = 500;
/** How many characters of an answer the story shows. */
const maxStoryChars = 80;

/** Options of `scriptedModel()`. */
export interface ScriptedModelOptions {
  /**
   * Decides what the model does in each turn. By default, and where the script says nothing, it
   * replies with thanks for the message.
   */
  readonly script?: ModelScript | undefined;
  /** Called with each request when it arrives, before it is recorded. */
  readonly onRequest?: ((request: ModelRequest) => void) | undefined;
}

/**
 * A model that does what a test says, and records what it was asked. It is the model of all engines
 * of a world. Outside of a world it answers at once: `agents: { model }`.
 */
export interface ScriptedModel extends AgentModel {
  /** All requests that reached the model, in order. */
  readonly requests: readonly ModelRequest[];
}

export const scriptedModels = new Connectors<ScriptedModel, AgentModel>();

const optionsSchema = optionsObject({
  script: scriptOption<ModelScript>(
    { text: patternCondition.optional(), task: textCondition.optional() },
    {
      answers: outcomeOption(
        ["answered", "answer_lost", "fails", "hangs"],
        // A text is a reply, and an object without an outcome is an answer.
        (given) => typeof given === "string" || memberOf(given, "outcome") === undefined,
      ),
    },
  ).default([]),
  onRequest: functionOption<(request: ModelRequest) => void>().optional(),
});

/**
 * Returns a model that does what a test says, by text, by task or by a function.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function scriptedModel(options: ScriptedModelOptions = {}): ScriptedModel {
  const { script, onRequest } = parseOptions("scriptedModel: ", optionsSchema, options);
  const core = new ModelCore(script, onRequest);
  const model: ScriptedModel = {
    get requests() {
      return core.requests;
    },
    respond: (turn, { signal }) => core.respond(undefined, turn, signal),
  };
  scriptedModels.add(model, (context) => core.join(context));
  return model;
}

type OpenRequest = { -readonly [K in keyof ModelRequest]: ModelRequest[K] };

class ModelCore {
  readonly requests: OpenRequest[] = [];
  readonly #script: ModelScript;
  readonly #onRequest: ((request: ModelRequest) => void) | undefined;
  readonly #counts = new Map<string, number>();
  #world: RunContext["world"] | undefined;

  constructor(script: ModelScript, onRequest: ((request: ModelRequest) => void) | undefined) {
    this.#script = script;
    this.#onRequest = onRequest;
  }

  /** The model of an engine in a world. A model belongs to one world. */
  join(context: RunContext): AgentModel {
    const { world, run } = context;
    this.#world = joinWorld("model", this.#world, world);
    return {
      respond: (turn, { signal }) => callWhileAlive(run, () => this.respond(context, turn, signal)),
    };
  }

  async respond(
    context: RunContext | undefined,
    turn: ModelTurn,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const isAnswerLost = context !== undefined && (await reachModel(context, turn, signal));
    const request = this.#record(context, turn);
    const decided = outcomeOf(this.#script, request);
    const isLost = isAnswerLost && decided.outcome === "answered";
    const outcome = isLost ? "answer_lost" : decided.outcome;
    this.#note(request, outcome, decided);
    if (decided.outcome === "hangs") await aborted(signal);
    const { afterMs = defaultAfterMs } = decided.outcome === "answered" ? decided : {};
    await context?.world.clock.sleep(afterMs, signal);
    if (context?.run.isAlive === false) return never();
    request.outcome = outcome;
    if ("answer" in decided) request.answer = decided.answer;
    if (outcome === "answered" && "answer" in decided) return decided.answer;
    const told = decided.outcome === "fails" ? decided.message : undefined;
    throw new Error(told ?? messageOf(outcome, turn));
  }

  #record(context: RunContext | undefined, turn: ModelTurn): OpenRequest {
    const name = JSON.stringify([turn.task.type, turn.messages]);
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    const request: OpenRequest = {
      turn,
      number,
      at: context?.world.clock.now() ?? 0,
      engine: context?.run.name ?? "",
      outcome: null,
      answer: null,
    };
    this.#onRequest?.(request);
    this.requests.push(request);
    return request;
  }

  #note({ engine, turn }: ModelRequest, outcome: ModelOutcome["outcome"], decided: object): void {
    const answer = "answer" in decided ? `: ${shown(decided.answer)}` : "";
    this.#world?.story.note([engine], `${engine} asks the model: ${quoted(lastSaid(turn))}`);
    this.#world?.story.note([engine], `the model ${verbs[outcome]}${answer}`);
  }
}

const verbs: Readonly<Record<ModelOutcome["outcome"], string>> = {
  answered: "answers",
  answer_lost: "answers, and the answer is lost",
  fails: "fails",
  hangs: "hangs",
};

/** An answer for the story. It may not be JSON: tests may script that, to see what engines do. */
function shown(answer: unknown): string {
  try {
    return JSON.stringify(answer).slice(0, maxStoryChars);
  } catch {
    return "no JSON";
  }
}

/**
 * Takes a request to the model. Returns whether the answer gets lost on its way back. Never settles
 * if the process crashes.
 * @throws Error when the request fails
 */
async function reachModel(
  { world, run, occurs, crash, isCutOff }: RunContext,
  turn: ModelTurn,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, dice, story } = world;
  if (occurs("crashAtModel", { call: "model" })) {
    crash("while it asks the model");
    return never();
  }
  if (isCutOff("internet") || occurs("modelFails", { call: "model" })) {
    story.note([run.name], `${run.name} gets an error from the model`);
    throw new Error(messageOf("fails", turn));
  }
  if (occurs("modelSlow", { call: "model" })) {
    await clock.sleep(dice.between(1, maxDelayMs.model), signal);
  }
  return occurs("modelAnswerLost", { call: "model" });
}

/** Errors of models may quote what they were asked. */
function messageOf(outcome: string, turn: ModelTurn): string {
  const what = outcome === "fails" ? "The model failed" : "The connection to the model broke";
  return `${what} on: ${lastSaid(turn)}`;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
