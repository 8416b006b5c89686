/**
 * What of the AI SDK's language model specifications 2, 3 and 4 is used: packages `@ai-sdk/provider` 2 to 4, `LanguageModelV2` to
 * `LanguageModelV4`. What is asked has one form in all three. Answers come from outside: only what is looked at is named, and it is checked.
 */

/** A model as the AI SDK's providers make them: `openai("…")`, `anthropic("…")`, `createOpenAICompatible({…})("…")`. */
export interface LanguageModel {
  readonly specificationVersion: "v2" | "v3" | "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly doGenerate: (options: GenerateOptions) => PromiseLike<GenerateResult>;
}

/** By provider: `{ openai: { reasoningEffort: "low" } }`. */
export interface ProviderOptions {
  [provider: string]: { [option: string]: JsonValue };
}

/** The SDK's arrays and objects are mutable. */
export type JsonValue =
  null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

export interface GenerateOptions {
  prompt: PromptMessage[];
  tools?: FunctionTool[];
  toolChoice?: { type: "auto" } | { type: "tool"; toolName: string };
  maxOutputTokens?: number;
  temperature?: number;
  abortSignal: AbortSignal;
  providerOptions?: ProviderOptions;
}

export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: TextPart[] }
  | { role: "assistant"; content: (TextPart | ToolCallPart)[] }
  | { role: "tool"; content: ToolResultPart[] };

export interface TextPart {
  type: "text";
  text: string;
}

export interface ToolCallPart {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: JsonValue;
}

export interface ToolResultPart {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "json"; value: JsonValue } | { type: "error-text"; value: string };
}

export interface FunctionTool {
  type: "function";
  name: string;
  description: string;
  /** A JSON Schema, of an object. */
  inputSchema: object;
}

export interface GenerateResult {
  readonly content: readonly GeneratedContent[];
  /** A word in version 2. */
  readonly finishReason: string | { readonly unified: string };
  readonly usage: { readonly inputTokens: Tokens; readonly outputTokens: Tokens };
}

/** A number in version 2. */
export type Tokens = number | { readonly total: number | undefined } | undefined;

/** `text` has `text`; `tool-call` has `toolName` and `input`, which is JSON as text; other types are passed over. */
export interface GeneratedContent {
  readonly type: string;
  readonly text?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly providerExecuted?: unknown;
}
