/** Turns that are under way when their engine stops. */
import { expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../../adapters/testing/world/ports/shared-storage.ts";
import type { ModelAnswer, ModelTurn } from "../../../src/ports/agent-model.ts";
import type { Policy } from "../../../src/ports/policy.ts";
import { held } from "../../support/engines/carrier.ts";
import { stopped, stopping } from "../../support/engines/world.ts";
import { actionOf } from "../actions.ts";
import { agency, echo, visitor } from "../world.ts";

test("an engine that stops with deadlineMs 0 releases its turn to other engines at once", async () => {
  const storage = memory();
  const made = await agency(storage, { model: () => new Promise(() => {}) });
  await made.say("hello");
  await made.pass(3_000);
  let isStopped = false;
  void made.engine.stop({ deadlineMs: 0 }).then(() => {
    isStopped = true;
  });
  await made.world.clock.advanceUntil(() => isStopped);
  const next = made.world.engine(storage, { transports: [made.line], agents: { model: echo } });
  await next.start();
  await made.pass(6_000);
  expect(made.line.calls.map(({ message: { body } }) => body)).toEqual(["You said: hello"]);
});

test("a turn that its engine leaves has its tokens counted, and its calls are not made again", async () => {
  const storage = memory();
  const usage = { input_tokens: 30, output_tokens: 10 };
  let looked = 0;
  const look = actionOf({
    name: "look",
    input: z.object({}),
    execute: () => ++looked,
  });
  const lookThen = (answer: () => ModelAnswer | Promise<ModelAnswer>) => ({
    actions: [look],
    model: ({ calls }: ModelTurn) =>
      calls.length === 0 ? { calls: [{ action: "look", input: {} }], usage } : answer(),
  });
  const made = await agency(
    storage,
    lookThen(() => new Promise(() => {})),
  );
  await made.say("hello");
  await made.pass(3_000);
  await stopped(made.engine, made.world.clock);
  const next = made.world.engine(storage, {
    transports: [made.line],
    agents: lookThen(() => ({ text: "Seen.", usage })),
  });
  await next.start();
  await made.pass(6_000);
  const { data } = await next.agents.runs(made.agent.id);
  expect(data).toMatchObject([
    { status: "completed", usage: { input_tokens: 60, output_tokens: 20, model_calls: 3 } },
  ]);
  const run = await next.agents.run(made.agent.id, data[0]?.id ?? "");
  expect(run.steps.map(({ type, error }) => [type, error])).toEqual([
    ["model", null],
    ["action", null],
    ["model", null],
  ]);
  expect(looked).toBe(1);
});

test("an action is called by the next engine if its engine stops while the schema checks the input", async () => {
  const storage = memory();
  let isChecking = true;
  let booked = 0;
  const book = actionOf({
    name: "book",
    input: z.object({}).refine(() => (isChecking ? new Promise<never>(() => {}) : true)),
    risk: "write",
    idempotent: false,
    execute: () => ++booked,
  });
  const agents = {
    actions: [book],
    model: ({ calls: [made] }: ModelTurn) =>
      made === undefined
        ? { calls: [{ action: "book", input: {} }] }
        : { text: `The call is ${made.outcome.status}.` },
  };
  const { engine, world, line, say, pass } = await agency(storage, agents);
  await say("Book a table");
  await pass(3_000);
  await stopped(engine, world.clock);
  isChecking = false;
  await world.started(storage, { transports: [line], agents });
  await pass(6_000);
  expect(line.calls.map(({ message: { body } }) => body)).toEqual(["The call is done."]);
  expect(booked).toBe(1);
});

test("a model can call the engine while a stop waits for its turn", async () => {
  const gate = held<undefined>();
  const made = await agency(memory(), {
    model: async () => {
      await gate.promise;
      const { data } = await made.engine.contacts.list({ phone: visitor });
      return { text: `Hello, contact ${data.length}.` };
    },
  });
  await made.say("hello");
  await made.pass(3_000);
  const stopping = stopped(made.engine, made.world.clock, 5_000);
  gate.answer(undefined);
  await stopping;
  expect(made.world.log).toEqual([]);
  expect(made.line.calls).toEqual([]);
});

test("a slow policy does not keep a stop waiting, and another engine sends the reply once", async () => {
  const storage = new SharedStorage(memory());
  let isSlow = false;
  const slow: Policy = {
    name: "slow",
    async evaluate() {
      if (isSlow) await made.world.clock.sleep(4_900);
      return { verdict: "allow" };
    },
  };
  const gate = held<ModelAnswer>();
  const made = await agency(storage.connect(), {
    model: () => gate.promise,
    options: { policies: [slow] },
  });
  const { world, line, engine } = made;
  await made.say("hello");
  await made.pass(3_000);
  isSlow = true;
  gate.answer({ text: "Hi." });
  await world.clock.settle();
  const isOver = stopping(engine);
  await world.clock.advance(3_000);
  expect(isOver()).toBe(true);
  isSlow = false;
  await world.started(storage.connect(), { transports: [line], agents: { model: echo } });
  await made.pass(6_000);
  expect(line.calls.map(({ message: { body } }) => body)).toEqual(["You said: hello"]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);
});
