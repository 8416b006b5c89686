/** Models for agents: rules, the AI SDK's mocks, and its provider for OpenAI-compatible servers. */
import { languageModel, rules, type GenerateOptions } from "tidings/models";
import type { AgentModel } from "../../src/ports/agent-model.ts";
import { specifications } from "../adapters/models/mocks.ts";
import { openAiModel } from "../support/engines/openai-model.ts";
import { respondTo, type Prompt, type Tool } from "./stand-in-model.ts";

export interface TestModel {
  readonly name: string;
  readonly isLanguageModel: boolean;
  /** Calls `took` with the name of each tool that the model calls. Must be called inside a test. */
  readonly make: (took: (tool: string) => void) => AgentModel | Promise<AgentModel>;
}

export const testModels: readonly TestModel[] = [
  { name: "rules()", isLanguageModel: false, make: () => rules() },
  ...specifications.map(([version, make]): TestModel => ({
    name: `a mock of specification ${version}`,
    isLanguageModel: true,
    make(took) {
      const doGenerate = (options: GenerateOptions) => {
        const reply = respondTo(promptOf(options));
        for (const { name } of reply.calls ?? []) took(name);
        return make(reply).model.doGenerate(options);
      };
      return languageModel(Object.assign(make().model, { doGenerate }));
    },
  })),
  { name: "a server that speaks OpenAI's protocol", isLanguageModel: true, make: openAiServer },
];

function promptOf({ prompt, tools = [] }: GenerateOptions): Prompt {
  const thread = prompt.flatMap(({ role, content }) =>
    (role === "user" || role === "assistant") && typeof content !== "string"
      ? content.flatMap((part) => (part.type === "text" ? [{ from: role, text: part.text }] : []))
      : [],
  );
  const results = prompt.flatMap((message) =>
    message.role === "tool"
      ? message.content.map(({ output }) =>
          output.type === "json" ? JSON.stringify(output.value) : output.value,
        )
      : [],
  );
  return {
    system: prompt.flatMap(({ role, content }) => (role === "system" ? [content] : [])).join("\n"),
    thread,
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input: inputSchema,
    })),
    results,
  };
}

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: "system" | "user" | "assistant" | "tool";
    readonly content: string | null;
  }[];
  readonly tools?: readonly {
    readonly function: {
      readonly name: string;
      readonly description: string;
      readonly parameters: Tool["input"];
    };
  }[];
}

/** The same stand-in behind a real server on loopback. */
function openAiServer(took: (tool: string) => void): Promise<AgentModel> {
  return openAiModel((body, response) => {
    const asked = body as ChatRequest;
    const { text = null, calls = [] } = respondTo(promptOfRequest(asked));
    for (const { name } of calls) took(name);
    const tool_calls = calls.map(({ name, input }, index) => ({
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = {
      role: "assistant",
      content: text,
      ...(calls.length > 0 ? { tool_calls } : {}),
    };
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 210, completion_tokens: 12, total_tokens: 222 };
    const choices = [{ index: 0, message, finish_reason }];
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "1",
        object: "chat.completion",
        created: 0,
        model: asked.model,
        choices,
        usage,
      }),
    );
  });
}

function promptOfRequest({ messages, tools = [] }: ChatRequest): Prompt {
  const of = (role: string) =>
    messages.flatMap((each) => (each.role === role ? [each.content ?? ""] : []));
  return {
    system: of("system").join("\n"),
    thread: messages.flatMap(({ role, content }) =>
      (role === "user" || role === "assistant") && content !== null && content !== ""
        ? [{ from: role, text: content }]
        : [],
    ),
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      input: parameters,
    })),
    results: of("tool"),
  };
}
