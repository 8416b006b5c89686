/** Turns that are under way when their engine stops. */
import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import type { ModelAnswer } from "../../src/ports/agent-model.ts";
import type { Policy } from "../../src/ports/policy.ts";
import { held } from "../support/carrier.ts";
import { stopped, stopping } from "../support/world.ts";
import { agency, echo, visitor } from "./world.ts";

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
  const next = world.engine(storage.connect(), { transports: [line], agents: { model: echo } });
  await next.start();
  await made.pass(6_000);
  expect(line.calls.map(({ message: { body } }) => body)).toEqual(["You said: hello"]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);
});
