/**
 * The parts of the AI SDK's language model specification that are used here, for versions 2, 3 and
 * 4 (`LanguageModelV2` to `LanguageModelV4` of `@ai-sdk/provider` 2 to 4). Requests have the same
 * form in all three versions. Results come from a provider, so their fields are checked when they
 * are read.
 */
import type { Json } from "../../../src/ports/index.ts";

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
  readonly [provider: string]: { readonly [option: string]: Json };
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
  toolChoice?: AutoToolChoice | NamedToolChoice;
  /** The most tokens of the answer. */
  maxOutputTokens?: number;
  /** The sampling temperature. */
  temperature?: number;
  /** Aborts the request. */
  abortSignal: AbortSignal;
  /** Options for the provider. */
  providerOptions?: { [provider: string]: { [option: string]: JsonValue } };
}

/** Lets the model choose whether to call a tool. */
export interface AutoToolChoice {
  /** The kind of choice. */
  type: "auto";
}

/** Makes the model call a certain tool. */
export interface NamedToolChoice {
  /** The kind of choice. */
  type: "tool";
  /** The name of the tool. */
  toolName: string;
}

/** One message of a prompt. */
export type PromptMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** The instructions for the whole conversation. */
export interface SystemMessage {
  /** Marks the text as instructions. */
  role: "system";
  /** The text of the instructions. */
  content: string;
}

/** What the contact wrote, and data for the model. */
export interface UserMessage {
  /** Marks the text as the contact's words, or as data. */
  role: "user";
  /** The parts of the message, in order. */
  content: TextPart[];
}

/** What the model answered before. */
export interface AssistantMessage {
  /** Marks the parts as the model's own. */
  role: "assistant";
  /** The parts of the answer, in order. */
  content: (TextPart | ToolCallPart)[];
}

/** The results of the model's tool calls. */
export interface ToolMessage {
  /** Marks the parts as results of tools. */
  role: "tool";
  /** One result for each call. */
  content: ToolResultPart[];
}

/** A text. */
export interface TextPart {
  /** The kind of part. */
  type: "text";
  /** The text. */
  text: string;
}

/** An earlier tool call of the model. */
export interface ToolCallPart {
  /** The kind of part. */
  type: "tool-call";
  /** The id of the call. The result refers to it. */
  toolCallId: string;
  /** The name of the called tool. */
  toolName: string;
  /** The arguments of the call. */
  input: JsonValue;
}

/** The result of an earlier tool call. */
export interface ToolResultPart {
  /** The kind of part. */
  type: "tool-result";
  /** The id of the call. */
  toolCallId: string;
  /** The name of the called tool. */
  toolName: string;
  /** What the tool returned, or why it failed. */
  output: ToolOutput | ToolError;
}

/** What a tool returned. */
export interface ToolOutput {
  /** The kind of output. */
  type: "json";
  /** The returned value. */
  value: JsonValue;
}

/** Why a tool failed. */
export interface ToolError {
  /** The kind of output. */
  type: "error-text";
  /** The reason. */
  value: string;
}

/** A tool that the model can call. */
export interface FunctionTool {
  /** The kind of tool. */
  type: "function";
  /** The name to call it by. */
  name: string;
  /** What the tool does and when to call it. */
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: object;
}

/** A model's answer. */
export interface GenerateResult {
  /** The parts of the answer, in order. */
  readonly content: readonly GeneratedContent[];
  /** Why the model stopped. A string in version 2, an object later. */
  readonly finishReason: string | FinishReason;
  /** The tokens that the request and the answer took. */
  readonly usage: GenerateUsage;
}

/** Why a model stopped, from version 3 on. */
export interface FinishReason {
  /** The reason, in the same words for all providers: `stop`, `length`, `tool-calls` and others. */
  readonly unified: string;
}

/** The tokens of a request and its answer. */
export interface GenerateUsage {
  /** The tokens of the prompt. */
  readonly inputTokens: Tokens;
  /** The tokens of the answer. */
  readonly outputTokens: Tokens;
}

/** A number of tokens. A number in version 2, an object later. */
export type Tokens = number | TokenCount | undefined;

/** A number of tokens, from version 3 on. */
export interface TokenCount {
  /** All tokens. Undefined if the provider does not report them. */
  readonly total: number | undefined;
}

/**
 * A part of an answer. A part of type `text` has `text`. A part of type `tool-call` has `toolName`
 * and `input`. Other types are ignored.
 */
export interface GeneratedContent {
  /** The kind of part. */
  readonly type: string;
  /** The text of a part of type `text`. */
  readonly text?: unknown;
  /** The tool that a part of type `tool-call` calls. */
  readonly toolName?: unknown;
  /** The arguments of a part of type `tool-call`, as JSON text or as an object. */
  readonly input?: unknown;
  /** True when the provider runs the tool itself. Such calls are ignored. */
  readonly providerExecuted?: unknown;
}
