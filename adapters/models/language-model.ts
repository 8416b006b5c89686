import { setTimeout } from "node:timers/promises";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { AgentModel, ModelTurn } from "../../src/ports/agent-model.ts";
import { answerOf } from "./language-model/answer.ts";
import { promptOf } from "./language-model/prompt.ts";
import { type Sleep, withRetries } from "./language-model/retry.ts";
import type {
  GenerateOptions,
  LanguageModel,
  ProviderOptions,
} from "./language-model/specification.ts";
import { names, toolsOf } from "./language-model/tools.ts";

export interface LanguageModelOptions {
  /** By default the provider's. */
  readonly temperature?: number;
  /** By default 4,000, which leaves room to reason. An answer that is cut off counts as `model_error`. */
  readonly maxOutputTokens?: number;
  /** What the model's provider knows beside: `{ openai: { reasoningEffort: "low" } }`. */
  readonly providerOptions?: ProviderOptions;
}

const usualMaxOutputTokens = 4_000;

const sleep: Sleep = (ms, signal) => setTimeout(ms, undefined, { signal });

/**
 * Lets a language model of the AI SDK (specification 2, 3 or 4) think for agents. The agent's actions are its tools, beside some of our own
 * to answer, start a playbook and hand off; what contacts write and knowledge are shown to it as data. An attempt that the SDK calls
 * retryable is made up to three times.
 * @throws TidingsError `invalid_option` for what is no such model
 */
export function languageModel(
  model: LanguageModel,
  options: LanguageModelOptions = {},
): AgentModel {
  if (!["v2", "v3", "v4"].includes(model.specificationVersion)) {
    throw new TidingsError(
      "invalid_option",
      `a language model of specification v2, v3 or v4 is needed; this is ${model.specificationVersion}`,
    );
  }
  return {
    async respond(turn, { signal }) {
      const asked = { ...request(turn, options), abortSignal: signal };
      return answerOf(await withRetries(() => model.doGenerate(asked), signal, sleep), turn);
    },
  };
}

function request(
  turn: ModelTurn,
  options: LanguageModelOptions,
): Omit<GenerateOptions, "abortSignal"> {
  const { temperature, maxOutputTokens = usualMaxOutputTokens, providerOptions } = options;
  return {
    prompt: promptOf(turn),
    tools: toolsOf(turn),
    toolChoice:
      turn.task.type === "extract" ? { type: "tool", toolName: names.slot } : { type: "auto" },
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}
