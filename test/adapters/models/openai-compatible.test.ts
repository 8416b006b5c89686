import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { complete, openAiModel } from "../../support/engines/openai-model.ts";
import { never, nextPick } from "./turns.ts";

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly {
    readonly type: string;
    readonly function: { readonly name: string };
  }[];
}

type Serve = (response: ServerResponse) => void;

/**
 * A local server with OpenAI's protocol. It answers requests as told, and repeats the last answer.
 */
async function served(...ways: readonly Serve[]) {
  const asked: Asked[] = [];
  const agent = await openAiModel((body, response) => {
    asked.push(body as Asked);
    ways[Math.min(asked.length, ways.length) - 1]?.(response);
  });
  return { agent, asked };
}

const completion =
  (message: object, finish_reason: string): Serve =>
  (response) =>
    complete(response, message, finish_reason);
const says = (content: string): Serve => completion({ content }, "stop");
const calls = (name: string, input: string): Serve =>
  completion(
    {
      content: null,
      tool_calls: [{ id: "tc_1", type: "function", function: { name, arguments: input } }],
    },
    "tool_calls",
  );
const status =
  (code: number, body = "{}"): Serve =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json" }).end(body);
  };

const hello = nextPick([["contact", "Are you open?"]]);
const usage = { input_tokens: 210, output_tokens: 12 };

it("the model gets an answer after calls and their outcomes", async () => {
  const { agent, asked } = await served(
    calls("find_slots", '{"day":"Tuesday"}'),
    calls("_reply", '{"text":"At ten.","confidence":0.8}'),
  );
  const actions = [
    {
      name: "find_slots",
      description: "Free times.",
      input_schema: { type: "object", properties: {} },
    },
  ];
  const first = await agent.respond({ ...hello, actions }, { signal: never });
  expect(first).toEqual({ calls: [{ action: "find_slots", input: { day: "Tuesday" } }], usage });

  const outcome = { status: "done", output: { times: ["10:00"] } } as const;
  const made = [{ id: "a", action: "find_slots", input: { day: "Tuesday" }, outcome }];
  const second = await agent.respond({ ...hello, actions, calls: made }, { signal: never });
  expect(second).toEqual({ text: "At ten.", confidence: 0.8, usage });

  expect(asked[0]?.tools.map((tool) => tool.function.name)).toEqual([
    "find_slots",
    "_reply",
    "_handoff",
  ]);
  expect(asked[1]?.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
  ]);
  expect(asked[1]?.messages.slice(1)).toMatchObject([
    { content: "Are you open?" },
    {
      tool_calls: [
        { id: "call00000", function: { name: "find_slots", arguments: '{"day":"Tuesday"}' } },
      ],
    },
    { tool_call_id: "call00000", content: '{"times":["10:00"]}' },
  ]);
});

const half: Serve = (response) => {
  response.writeHead(200, { "content-length": "1000" }).write("{");
  response.destroy();
};

it.each([
  ["a server error", status(500)],
  ["half a connection", half],
])("the server is called again after %s", async (_, way) => {
  const { agent, asked } = await served(way, says("Yes, until six."));
  expect(await agent.respond(hello, { signal: never })).toEqual({ text: "Yes, until six.", usage });
  expect(asked).toHaveLength(2);
});

it("the server is not called again after a refusal", async () => {
  const refusing = await served(status(401, '{"error":{"message":"bad key"}}'));
  await expect(refusing.agent.respond(hello, { signal: never })).rejects.toThrow("bad key");
  expect(refusing.asked).toHaveLength(1);
});

it("the connection is closed when the turn's time is over", async () => {
  const controller = new AbortController();
  let gone: Promise<unknown> = Promise.resolve("never asked");
  const { agent, asked } = await served((response) => {
    gone = once(response, "close");
    controller.abort(new Error("time is over"));
  });
  await expect(agent.respond(hello, { signal: controller.signal })).rejects.toThrow("time is over");
  await gone;
  expect(asked).toHaveLength(1);
});

it.each([
  ["a page", status(200, "<html>It works!</html>"), "JSON"],
  ["no choices", status(200, '{"choices":[]}'), "choices"],
  ["nothing", status(200, ""), "JSON"],
  ["a broken call", calls("_reply", '{"text": "Yes'), "_reply"],
  ["half an answer", completion({ content: "Yes, we" }, "length"), "length"],
])("fails on %s", async (_, way, message) => {
  const { agent } = await served(way);
  await expect(agent.respond(hello, { signal: never })).rejects.toThrow(message);
});

it("an answer of millions of characters is returned as it is, because the engine cuts it", async () => {
  const { agent } = await served(says("long ".repeat(1_000_000)));
  expect((await agent.respond(hello, { signal: never })).text).toHaveLength(4_999_999);
});
