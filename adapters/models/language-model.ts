import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
  wholeOption,
} from "../../src/kernel/index.ts";
import type { AgentModel, ModelTurn } from "../../src/ports/index.ts";
import { answerOf, isObject } from "./language-model/answer.ts";
import { promptOf } from "./language-model/prompt.ts";
import { withRetries } from "./language-model/retries.ts";
import type {
  GenerateOptions,
  LanguageModel,
  ProviderOptions,
} from "./language-model/specification.ts";
import { toolNames, toolsOf } from "./language-model/tools.ts";

/** Options of `languageModel()`. */
export interface LanguageModelOptions {
  /** The sampling temperature. The default and the range are the provider's. */
  readonly temperature?: number | undefined;
  /**
   * The maximum tokens of one answer, reasoning included. An answer that reaches the limit is
   * discarded and counts as `model_error`.
   * @default 4000
   */
  readonly maxOutputTokens?: number | undefined;
  /** Options for the model's provider, such as `{ openai: { reasoningEffort: "low" } }`. */
  readonly providerOptions?: ProviderOptions | undefined;
}

const defaultMaxOutputTokens = 4_000;

const argumentsSchema = optionsObject({
  model: option<LanguageModel>(
    "a language model of the AI SDK with specificationVersion v2, v3 or v4, such as " +
      'openai("gpt-5-mini")',
    isLanguageModel,
    { advice: versionOf },
  ),
  options: optionsObject({
    temperature: option<number>("a number", (given) => Number.isFinite(given)).optional(),
    maxOutputTokens: wholeOption(1, Number.MAX_SAFE_INTEGER).optional(),
    providerOptions: option<ProviderOptions>(
      "an object with an object for each provider",
      (given) => isObject(given) && Object.values(given).every((each) => isObject(each)),
    ).optional(),
  }),
});

function isLanguageModel(model: unknown): boolean {
  const version = memberOf(model, "specificationVersion");
  return hasMethods(model, "doGenerate") && ["v2", "v3", "v4"].some((each) => each === version);
}

function versionOf(model: unknown): string {
  const version = memberOf(model, "specificationVersion");
  return typeof version === "string" ? ` with specificationVersion ${version}` : "";
}

/**
 * Returns an agent model that uses a language model of the AI SDK (specification version 2, 3 or
 * 4).
 *
 * The agent's actions become tools. Further tools let the model reply, start a playbook and hand
 * off to a person. Messages of contacts and knowledge are passed to the model as data, not as
 * instructions. A call that fails with an error that the SDK marks as retryable is made up to three
 * times.
 * @throws TidingsError `invalid_option` when `model` is no such model, or an option is wrong
 */
export function languageModel(
  model: LanguageModel,
  options: LanguageModelOptions = {},
): AgentModel {
  parseOptions("languageModel: ", argumentsSchema, { model, options });
  return {
    async respond(turn, { signal }) {
      const request = { ...requestOf(turn, options), abortSignal: signal };
      return answerOf(await withRetries(() => model.doGenerate(request), signal), turn);
    },
  };
}

function requestOf(
  turn: ModelTurn,
  options: LanguageModelOptions,
): Omit<GenerateOptions, "abortSignal"> {
  const { temperature, maxOutputTokens = defaultMaxOutputTokens, providerOptions } = options;
  return {
    prompt: promptOf(turn),
    tools: toolsOf(turn),
    toolChoice:
      turn.task.type === "extract" ? { type: "tool", toolName: toolNames.slot } : { type: "auto" },
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(providerOptions === undefined ? {} : { providerOptions: asMutable(providerOptions) }),
  };
}

/** The SDK's types are mutable, but providers only read the options. */
function asMutable(options: ProviderOptions): NonNullable<GenerateOptions["providerOptions"]> {
  return options as NonNullable<GenerateOptions["providerOptions"]>;
}
