/** Models for the conformance suite. */
import type { ServerResponse } from "node:http";
import type { ModelBehavior, ModelUnderTest } from "../../../adapters/testing/index.ts";
import { complete, openAiModel } from "../../support/engines/openai-model.ts";

/** What the contact writes so that `rules()` and the simulated server behave in each way. */
export const texts: Readonly<Record<ModelBehavior, string>> = {
  replies: "When do you open?",
  hands_off: "Let me talk to a person.",
  calls_action: "Which times are free on Friday?",
  starts_playbook: "Can I move my appointment to another day?",
  finds_slot: "I can't on Monday, but Friday would do.",
  stops_early: "Tell me a long story.",
  fails: "Which error do you have today?",
  hangs: "Are you still there?",
};

interface Tool {
  readonly function: {
    readonly name: string;
    readonly parameters: {
      readonly properties: { readonly [name: string]: { readonly enum?: readonly string[] } };
    };
  };
}

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly Tool[];
}

/** `languageModel()` over a local server with OpenAI's protocol. */
export async function languageModelUnderTest(): Promise<ModelUnderTest> {
  const model = await openAiModel((body, response) => play(body as Asked, response));
  return { model, text: (behavior) => texts[behavior] };
}

function play({ messages, tools }: Asked, response: ServerResponse): void {
  const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
  const behavior = (Object.keys(texts) as ModelBehavior[]).find((each) =>
    said.includes(texts[each]),
  );
  if (behavior === "hangs") return;
  if (behavior === "fails") {
    response
      .writeHead(401, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: said } }));
    return;
  }
  const isCut = behavior === "stops_early";
  const call = isCut ? undefined : chosen(behavior, messages, tools);
  const message =
    call === undefined ? { content: "Once upon a time" } : { content: null, tool_calls: [call] };
  complete(response, message, isCut ? "length" : "stop");
}

/** The tool that fits the behavior, as far as it is offered. Otherwise a reply. */
function chosen(
  behavior: ModelBehavior | undefined,
  messages: Asked["messages"],
  tools: Asked["tools"],
): object | undefined {
  const call = (name: string, input: object): object => ({
    id: "tc_1",
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  });
  const parametersOf = (name: string) =>
    tools.find((tool) => tool.function.name === name)?.function.parameters.properties;
  if (parametersOf("_slot") !== undefined) {
    return call("_slot", behavior === "finds_slot" ? { value: "2026-05-08" } : {});
  }
  if (behavior === "hands_off") return call("_handoff", { reason: "Asks for a person" });
  const playbooks = parametersOf("_start_playbook")?.["playbook_id"]?.enum;
  if (behavior === "starts_playbook" && playbooks !== undefined) {
    return call("_start_playbook", { playbook_id: playbooks[0] });
  }
  const isAnswered = messages.some(({ role }) => role === "tool");
  if (behavior === "calls_action" && parametersOf("find_times") !== undefined && !isAnswered) {
    return call("find_times", { day: "2026-05-08" });
  }
  const reply = parametersOf("_reply");
  if (reply === undefined) return undefined;
  return call("_reply", reply["piece"] === undefined ? { text: "At nine." } : { piece: 1 });
}
