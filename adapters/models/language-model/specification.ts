/**
 * The parts of the AI SDK's language model specification that are used here, for versions 2, 3 and
 * 4 (`LanguageModelV2` to `LanguageModelV4` of `@ai-sdk/provider` 2 to 4). Requests have the same
 * form in all three versions. Results come from a provider, so their fields are checked when they
 * are read.
 */

/**
 * A language model as the AI SDK's providers create it: `openai("…")`, `anthropic("…")`,
 * `createOpenAICompatible({…})("…")`.
 */
export interface LanguageModel {
  /** The version of the specification that the model implements. */
  readonly specificationVersion: "v2" | "v3" | "v4";
  /** The provider's name. */
  readonly provider: string;
  /** The provider's id of the model. */
  readonly modelId: string;
  /** Generates one answer. */
  readonly doGenerate: (options: GenerateOptions) => PromiseLike<GenerateResult>;
}

/** Options by provider: `{ openai: { reasoningEffort: "low" } }`. */
export interface ProviderOptions {
  [provider: string]: { [option: string]: JsonValue };
}

/** A JSON value. Its arrays and objects are mutable, as in the SDK. */
export type JsonValue =
  null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** A request to a language model. */
export interface GenerateOptions {
  /** The conversation, after one system message. */
  prompt: PromptMessage[];
  /** The tools that the model can call. */
  tools?: FunctionTool[];
  /** Whether the model chooses freely or has to call a certain tool. */
  toolChoice?: { type: "auto" } | { type: "tool"; toolName: string };
  /** The most tokens of the answer. */
  maxOutputTokens?: number;
  /** The sampling temperature. */
  temperature?: number;
  /** Aborts the request. */
  abortSignal: AbortSignal;
  /** Options for the provider. */
  providerOptions?: ProviderOptions;
}

/** One message of a prompt. */
export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: TextPart[] }
  | { role: "assistant"; content: (TextPart | ToolCallPart)[] }
  | { role: "tool"; content: ToolResultPart[] };

/** A text. */
export interface TextPart {
  type: "text";
  text: string;
}

/** An earlier tool call of the model. */
export interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: JsonValue;
}

/** The result of an earlier tool call. */
export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "json"; value: JsonValue } | { type: "error-text"; value: string };
}

/** A tool that the model can call. */
export interface FunctionTool {
  type: "function";
  name: string;
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: object;
}

/** A model's answer. */
export interface GenerateResult {
  /** The parts of the answer, in order. */
  readonly content: readonly GeneratedContent[];
  /** Why the model stopped. A string in version 2, an object later. */
  readonly finishReason: string | { readonly unified: string };
  /** The tokens that the request and the answer took. */
  readonly usage: { readonly inputTokens: Tokens; readonly outputTokens: Tokens };
}

/** A number of tokens. A number in version 2, an object later. */
export type Tokens = number | { readonly total: number | undefined } | undefined;

/**
 * A part of an answer. A part of type `text` has `text`. A part of type `tool-call` has `toolName`
 * and `input`, a JSON text. Other types are ignored.
 */
export interface GeneratedContent {
  readonly type: string;
  readonly text?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  /** True when the provider runs the tool itself. Such calls are ignored. */
  readonly providerExecuted?: unknown;
}
