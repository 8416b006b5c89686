/** A user's tests of agents with a scripted model. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import {
  scriptedCarrier,
  scriptedModel,
  world,
  type ModelScript,
  type ScriptedModel,
  type World,
} from "../../../adapters/testing/index.ts";
import { action } from "../../../src/index.ts";

const from = "+15005550101";
const refunded: string[] = [];
const refund = action({
  name: "refund",
  description: "Refunds an order.",
  input: z.strictObject({ order: z.string() }),
  risk: "write",
  idempotent: false,
  execute: async ({ order }) => {
    refunded.push(order);
    return { done: true };
  },
});

interface Desk {
  readonly w: World;
  readonly model: ScriptedModel;
  /** What the agent has replied. */
  replies(): readonly string[];
  /** A phone texts the agent. */
  say(body: string): Promise<void>;
}

/** A world with an enabled agent. */
async function desk(script: ModelScript = [], { seed = 1, engines = 1 } = {}): Promise<Desk> {
  refunded.length = 0;
  const carrier = scriptedCarrier();
  const model = scriptedModel({ script });
  const w = world({
    seed,
    storage: memory(),
    transports: [carrier],
    model,
    engines,
    engine: (ports) =>
      new MessagingEngine({ ...ports, agents: { ...ports.agents, actions: [refund] } }),
  });
  onTestFinished(() => w[Symbol.asyncDispose]());
  const input = { name: "Ada", channels: ["sms" as const], actions: ["refund"] };
  await w.run((engine) => engine.agents.create(input));
  return {
    w,
    model,
    replies: () => carrier.handedOver.map(({ message }) => message.body),
    async say(body) {
      await w.run((engine) => engine.sandbox.inbound({ from, body }));
      await w.advance(60_000);
    },
  };
}

test("a model replies by text, and records what it was asked", async () => {
  const { say, replies, model } = await desk([{ text: /open/, answers: ["From 9 to 6."] }]);
  await say("When are you open?");
  await say("Good bye");
  expect(replies()).toEqual(["From 9 to 6.", "Thank you for your message."]);
  expect(model.requests).toMatchObject([
    { turn: { task: { type: "answer" }, agent: { name: "Ada" } }, number: 1, outcome: "answered" },
    { number: 1, outcome: "answered", engine: "engine 1" },
  ]);
  expect(model.requests[1]?.turn.messages.map(({ text }) => text)).toEqual([
    "When are you open?",
    "From 9 to 6.",
    "Good bye",
  ]);
});

test("a model calls an action, and replies once it has the outcome", async () => {
  const { say, replies, model } = await desk([
    {
      text: "refund",
      answers: [{ calls: [{ action: "refund", input: { order: "7" } }] }, "It is refunded."],
    },
  ]);
  await say("Please refund order 7");
  expect([refunded, replies()]).toEqual([["7"], ["It is refunded."]]);
  expect(model.requests[1]?.turn.calls).toMatchObject([
    {
      action: "refund",
      input: { order: "7" },
      outcome: { status: "done", output: { done: true } },
    },
  ]);
});

test("a model hands off to people", async () => {
  const { say, w } = await desk(() => ({ handoff: { reason: "Wants a person" } }));
  await say("Let me talk to somebody");
  const { data } = await w.engine().conversations.list();
  expect(data).toMatchObject([{ handler: "queue" }]);
});

test.each([
  ["fails", { outcome: "fails" }],
  ["answers, and the answer is lost", { outcome: "answer_lost" }],
  ["hangs", { outcome: "hangs" }],
] as const)("when a model %s, the contact is not left alone", async (_what, failure) => {
  const { say, replies, model, w } = await desk([{ answers: [failure, "Here I am."] }]);
  await say("Hello?");
  await w.settle();
  expect(model.requests[0]?.outcome).toBe(failure.outcome);
  const { data } = await w.engine().conversations.list();
  const isHandedOff = data.some(({ handler }) => handler === "queue");
  expect(replies().length > 0 || isHandedOff).toBe(true);
});

test("an engine without the internet does not reach the model", async () => {
  const { say, model, w } = await desk();
  w.partition("engine 1", "internet");
  await say("Hello?");
  expect(model.requests).toEqual([]);
  expect(w.story.tell()).toContain("engine 1 gets an error from the model");
});

test("a process that crashes while it asks the model asks again, and replies once", async () => {
  const { say, replies, w } = await desk([], { engines: 2 });
  w.inject("crashAtModel");
  await say("Hello?");
  await w.settle();
  expect(replies()).toEqual(["Thank you for your message."]);
  expect(w.story.tell()).toMatch(/engine \d crashes while it asks the model/);
});

test("a slow model whose answer is lost by a fault", async () => {
  const { say, model, w } = await desk();
  w.inject("modelSlow");
  w.inject("modelAnswerLost");
  await say("Hello?");
  await w.settle();
  const [first] = model.requests;
  expect(first).toMatchObject({ outcome: "answer_lost", answer: { text: expect.any(String) } });
});

test("a request of an engine that crashes meanwhile has no outcome", async () => {
  const model = scriptedModel({
    script: [{ answers: [{ outcome: "answered", answer: { text: "Hello" }, afterMs: 10_000 }] }],
  });
  const w = world({ storage: memory(), transports: [scriptedCarrier()], model });
  await w.run((engine) =>
    engine.agents.create({ name: "Ada", instructions: "Help.", channels: ["sms"] }),
  );
  await w.run((engine) => engine.sandbox.inbound({ from, body: "Hello" }));
  for (let s = 0; s < 30 && model.requests.length === 0; s++) await w.advance(1_000);
  w.crash("engine 1");
  await w.advance(20_000);
  expect(model.requests[0]).toMatchObject({ outcome: null, answer: null });
});
