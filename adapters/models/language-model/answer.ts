import { memberOf } from "../../../src/kernel/index.ts";
import {
  UnusableResult,
  type Json,
  type ModelAnswer,
  type ModelTurn,
  type ModelUsage,
} from "../../../src/ports/index.ts";
import type { GeneratedContent, GenerateResult } from "./specification.ts";
import { toolNames, toolsOf } from "./tools.ts";

/** The longest input of a tool call, in characters. A longer one is an error. */
const maxInputLength = 100_000;
/** Finish reasons of an incomplete answer. */
const failedFinishReasons: ReadonlySet<string> = new Set([
  "length",
  "content-filter",
  "error",
  "interrupted",
]);

interface ToolCall {
  readonly name: string;
  readonly input: { readonly [key: string]: unknown };
}

/**
 * Converts a language model's result to an agent's answer. Calls of tools that the model was not
 * given are ignored. If the model called actions, the answer holds only these calls: the model is
 * then asked again with their outcomes, and can say everything else.
 * @throws UnusableResult when the answer was cut off or filtered, or when the input of a call is
 *   not a JSON object
 */
export function answerOf(result: GenerateResult, turn: ModelTurn): ModelAnswer {
  const usage = usageOf(result);
  const reason = reasonOf(result);
  if (failedFinishReasons.has(reason)) {
    const message = `the language model did not finish its answer: finish reason "${reason}"`;
    throw new UnusableResult(message, usage);
  }
  const content = contentOf(result);
  const tools = new Set<unknown>(toolsOf(turn).map(({ name }) => name));
  const toolCalls = content.filter(
    ({ type, toolName, providerExecuted }) =>
      type === "tool-call" && tools.has(toolName) && providerExecuted !== true,
  );
  const calls = toolCalls.map((call) => toolCallOf(call, usage));
  const actionCalls = calls.filter(({ name }) =>
    turn.actions.some((action) => action.name === name),
  );
  if (actionCalls.length > 0) {
    return {
      usage,
      calls: actionCalls.map(({ name, input }) => ({ action: name, input: input as Json })),
    };
  }
  return { usage, ...answerWithoutActions(calls, content, turn) };
}

function answerWithoutActions(
  calls: readonly ToolCall[],
  content: readonly GeneratedContent[],
  turn: ModelTurn,
): ModelAnswer {
  const input = (name: string) => calls.find((call) => call.name === name)?.input;
  if (turn.task.type === "extract") return slotOf(input(toolNames.slot), turn.task.slot.name);
  const handoff = handoffOf(input(toolNames.handoff));
  if (handoff !== undefined) return { handoff };
  const playbook = input(toolNames.startPlaybook)?.["playbook_id"];
  if (turn.task.type === "answer" && turn.playbooks.some(({ id }) => id === playbook)) {
    return { playbook_id: String(playbook) };
  }
  const reply = input(toolNames.reply);
  return reply === undefined ? plainTextAnswer(content, turn) : replyOf(reply, turn);
}

/**
 * Uses plain text as the answer, because not every model calls the reply tool. Plain text is
 * ignored for agents that may only send pieces of knowledge.
 */
function plainTextAnswer(content: readonly GeneratedContent[], { agent }: ModelTurn): ModelAnswer {
  const texts = content.flatMap(({ type, text }) =>
    type === "text" && typeof text === "string" ? [text] : [],
  );
  const text = texts.join("").trim();
  return text === "" || agent.reply.mode === "canned_strict" ? {} : { text };
}

function replyOf(reply: ToolCall["input"], { agent, knowledge, intents }: ModelTurn): ModelAnswer {
  const { confidence, intent, observations } = reply;
  const piece = knowledge[Number(reply["piece"]) - 1]?.text;
  const text = agent.reply.mode === "generated" ? textOf(reply["text"]) : piece;
  const valid = Array.isArray(observations) ? observations.flatMap(observationOf) : [];
  return {
    ...(text === undefined ? {} : { text }),
    ...confidenceOf(confidence),
    ...(typeof intent === "string" && intents.includes(intent) ? { intent } : {}),
    ...(valid.length === 0 ? {} : { observations: valid }),
  };
}

function observationOf(value: unknown): { content: string; kind: string; confidence?: number }[] {
  if (!isObject(value)) return [];
  const [content, kind] = [textOf(value["content"]), textOf(value["kind"])];
  return content === undefined || kind === undefined
    ? []
    : [{ content, kind, ...confidenceOf(value["confidence"]) }];
}

function handoffOf(input: ToolCall["input"] | undefined): ModelAnswer["handoff"] {
  if (input === undefined) return undefined;
  const summary = textOf(input["summary"]);
  return {
    reason: textOf(input["reason"]) ?? "The agent asked for a person.",
    ...(summary === undefined ? {} : { summary }),
  };
}

function slotOf(input: ToolCall["input"] | undefined, name: string): ModelAnswer {
  const value = input?.["value"];
  return value === undefined || value === null ? {} : { slots: { [name]: value as Json } };
}

function toolCallOf({ toolName, input }: GeneratedContent, usage: ModelUsage): ToolCall {
  const parsed = parse(input);
  if (typeof toolName !== "string" || !isObject(parsed)) {
    throw new UnusableResult(
      `the language model called the tool ${String(toolName)} with an input that is not a ` +
        "JSON object",
      usage,
    );
  }
  return { name: toolName, input: parsed };
}

/**
 * Returns the value of an input. Some providers pass a value in place of its JSON text. Some models
 * send an empty text for a tool without parameters.
 */
function parse(input: unknown): unknown {
  try {
    const text = typeof input === "string" ? input : JSON.stringify(input);
    if (text.length > maxInputLength) return undefined;
    return text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function confidenceOf(value: unknown): { confidence?: number } {
  return typeof value === "number" && value >= 0 && value <= 1 ? { confidence: value } : {};
}

/** Returns why the model stopped. A result that does not say so counts as complete. */
function reasonOf({ finishReason }: Partial<GenerateResult>): string {
  const reason =
    typeof finishReason === "string" ? finishReason : memberOf(finishReason, "unified");
  return typeof reason === "string" ? reason : "other";
}

function contentOf({ content }: Partial<GenerateResult>): readonly GeneratedContent[] {
  if (!Array.isArray(content)) return [];
  return content.filter(
    (part: unknown): part is GeneratedContent => typeof memberOf(part, "type") === "string",
  );
}

function usageOf({ usage }: Partial<GenerateResult>): ModelUsage {
  return {
    input_tokens: count(memberOf(usage, "inputTokens")),
    output_tokens: count(memberOf(usage, "outputTokens")),
  };
}

function count(tokens: unknown): number {
  const total = typeof tokens === "number" ? tokens : memberOf(tokens, "total");
  return typeof total === "number" && total > 0 ? Math.round(total) : 0;
}
