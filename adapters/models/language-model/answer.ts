import type { Json, ModelAnswer, ModelTurn } from "../../../src/ports/agent-model.ts";
import type { GenerateResult, GeneratedContent, Tokens } from "./specification.ts";
import { names } from "./tools.ts";

/** A call's input beyond this is no call that anybody meant. In characters. */
const longestInput = 100_000;
/** Ends that leave half an answer, or none. */
const badEnds: ReadonlySet<string> = new Set(["length", "content-filter", "error", "interrupted"]);

interface ToolCall {
  readonly name: string;
  readonly input: { readonly [key: string]: unknown };
}

/**
 * What a language model said, as an agent's answer. Tools that it wasn't given are passed over. Calls of actions go first: it is asked again
 * with their outcomes, and says all else then.
 * @throws when it was cut off or filtered, or a call's input is no JSON object
 */
export function answerOf(
  { content, finishReason, usage }: GenerateResult,
  turn: ModelTurn,
): ModelAnswer {
  const end = typeof finishReason === "string" ? finishReason : finishReason.unified;
  if (badEnds.has(end)) throw new Error(`the language model ended with "${end}"`);
  const counted = {
    usage: { input_tokens: count(usage.inputTokens), output_tokens: count(usage.outputTokens) },
  };
  const made = content.filter(
    ({ type, providerExecuted }) => type === "tool-call" && providerExecuted !== true,
  );
  const calls = made.map(toolCall);
  const acts = calls.filter(({ name }) => turn.actions.some((action) => action.name === name));
  if (acts.length > 0 && turn.task.type !== "extract") {
    return {
      ...counted,
      calls: acts.map(({ name, input }) => ({ action: name, input: input as Json })),
    };
  }
  return { ...counted, ...said(calls, content, turn) };
}

function said(
  calls: readonly ToolCall[],
  content: readonly GeneratedContent[],
  turn: ModelTurn,
): ModelAnswer {
  const input = (name: string) => calls.find((call) => call.name === name)?.input;
  if (turn.task.type === "extract") return slotOf(input(names.slot), turn.task.slot.name);
  const handoff = handoffOf(input(names.handoff));
  if (handoff !== undefined) return { handoff };
  const playbook = input(names.startPlaybook)?.["playbook_id"];
  if (turn.task.type === "answer" && turn.playbooks.some(({ id }) => id === playbook)) {
    return { playbook_id: String(playbook) };
  }
  const reply = input(names.reply);
  return reply === undefined ? written(content, turn) : replyOf(reply, turn);
}

/** Plain text is an answer too: not every model keeps to tools. Where only pieces of knowledge may be sent, it is none. */
function written(content: readonly GeneratedContent[], { agent }: ModelTurn): ModelAnswer {
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
  const noticed = Array.isArray(observations) ? observations.flatMap(observation) : [];
  return {
    ...(text === undefined ? {} : { text }),
    ...fraction(confidence),
    ...(typeof intent === "string" && intents.includes(intent) ? { intent } : {}),
    ...(noticed.length === 0 ? {} : { observations: noticed }),
  };
}

function observation(value: unknown): { content: string; kind: string; confidence?: number }[] {
  if (!isObject(value)) return [];
  const [content, kind] = [textOf(value["content"]), textOf(value["kind"])];
  return content === undefined || kind === undefined
    ? []
    : [{ content, kind, ...fraction(value["confidence"]) }];
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

function toolCall({ toolName, input }: GeneratedContent): ToolCall {
  const parsed =
    typeof input === "string" && input.length <= longestInput ? parse(input) : undefined;
  if (typeof toolName !== "string" || !isObject(parsed)) {
    throw new Error(
      `the language model called ${String(toolName).slice(0, 64)} with no JSON object`,
    );
  }
  return { name: toolName, input: parsed };
}

/** Some models send nothing where a tool needs nothing. */
function parse(input: string): unknown {
  try {
    return input.trim() === "" ? {} : JSON.parse(input);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function fraction(value: unknown): { confidence?: number } {
  return typeof value === "number" && value >= 0 && value <= 1 ? { confidence: value } : {};
}

function count(tokens: Tokens): number {
  const total = typeof tokens === "object" ? tokens.total : tokens;
  return typeof total === "number" && total > 0 ? Math.round(total) : 0;
}
