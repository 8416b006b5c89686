import { MockLanguageModelV2 } from "ai-v5/test";
import { MockLanguageModelV3 } from "ai-v6/test";
import { MockLanguageModelV4 } from "ai/test";
import type { GenerateOptions, LanguageModel } from "tidings/models";

/** The next reply of a mock of any specification. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[];
  readonly end?: "stop" | "length" | "content-filter" | "tool-calls" | "error";
}

export interface Mock {
  readonly model: LanguageModel;
  /** The requests, in order. */
  readonly asked: readonly GenerateOptions[];
}

type Content =
  | { type: "text"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string };

function contentOf({ text, calls = [] }: Reply): Content[] {
  const made = calls.map(({ name, input }, index) => ({
    type: "tool-call" as const,
    toolCallId: `made-${index}`,
    toolName: name,
    input: typeof input === "string" ? input : JSON.stringify(input),
  }));
  return [...(text === undefined ? [] : [{ type: "text" as const, text }]), ...made];
}

const endOf = ({ end, calls = [] }: Reply) => end ?? (calls.length > 0 ? "tool-calls" : "stop");

const nested = (reply: Reply) => ({
  content: contentOf(reply),
  finishReason: { unified: endOf(reply), raw: undefined },
  usage: {
    inputTokens: { total: 120, noCache: 20, cacheRead: 100, cacheWrite: undefined },
    outputTokens: { total: 7, text: 7, reasoning: undefined },
  },
  warnings: [],
});

const flat = (reply: Reply) => ({
  content: contentOf(reply),
  finishReason: endOf(reply),
  usage: { inputTokens: 120, outputTokens: 7, totalTokens: 127 },
  warnings: [],
});

/** The AI SDK's own mock for each specification. A mock gives one reply after the other. */
export const specifications: readonly (readonly [
  version: string,
  make: (...replies: readonly Reply[]) => Mock,
])[] = [
  [
    "v2",
    (...replies) => {
      const model = new MockLanguageModelV2({ doGenerate: replies.map(flat) });
      return { model, asked: model.doGenerateCalls as GenerateOptions[] };
    },
  ],
  [
    "v3",
    (...replies) => {
      const model = new MockLanguageModelV3({ doGenerate: replies.map(nested) });
      return { model, asked: model.doGenerateCalls as GenerateOptions[] };
    },
  ],
  [
    "v4",
    (...replies) => {
      const model = new MockLanguageModelV4({ doGenerate: replies.map(nested) });
      return { model, asked: model.doGenerateCalls as GenerateOptions[] };
    },
  ],
];
