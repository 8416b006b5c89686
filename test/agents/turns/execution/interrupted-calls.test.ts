/** Calls of actions that were under way when the engine of their turn stopped. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../../../adapters/testing/world/ports/shared-storage.ts";
import { runs } from "../../../../src/agents/runs/rows.ts";
import type { MessagingEngine } from "../../../../src/engine.ts";
import type { Action } from "../../../../src/host/actions.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import type { AgentModel } from "../../../../src/ports/agent-model.ts";
import type { Write } from "../../../../src/ports/storage.ts";
import { held } from "../../../support/engines/carrier.ts";
import { stopped, stopping, type World } from "../../../support/engines/world.ts";
import { actionOf } from "../../actions.ts";
import { agency } from "../../world.ts";

let requests = 0;

/**
 * Asks for the action if the contact wrote last, and tells the outcome once it is known. It words
 * each request differently, as a language model may.
 */
const clerk: AgentModel["respond"] = ({ calls: [call], messages }) => {
  if (call !== undefined) {
    const { outcome } = call;
    return { text: outcome.status === "failed" ? outcome.error : outcome.status };
  }
  if (messages.at(-1)?.from !== "contact") return { text: "I know of no call." };
  return { calls: [{ action: "pay", input: { what: `Payment ${requests++}` } }] };
};

/** Longer than a turn's lease, so that another engine takes over. */
const pastLease = 90_000;

interface Case extends Pick<Action, "risk" | "idempotent"> {
  readonly handsOff?: boolean;
}

/** Has an engine stop during the call, and another one take over. Returns what happened. */
async function takenOver({ risk, idempotent, handsOff = false }: Case) {
  const keys: string[] = [];
  const pay = (execute: () => unknown): Action =>
    actionOf({
      name: "pay",
      input: z.strictObject({ what: z.string() }),
      risk,
      idempotent,
      execute(_, { idempotency_key }) {
        keys.push(idempotency_key);
        return execute();
      },
    });
  const ground = new SharedStorage(memory());
  const connect = () => ground.connect();
  const { engine, agent, world, line, ask, say, pass, runs } = await agency(connect(), {
    model: clerk,
    actions: [pay(() => new Promise(() => {}))],
    agent: { handoff: { rules: handsOff ? [{ on: "action_failure" }] : [] } },
  });
  if (risk === "approval") {
    expect(await ask("Pay me")).toEqual(["awaiting_approval"]);
    const [asked] = await runs();
    await engine.agents.approve(agent.id, asked?.id ?? "", { decision: "approve" });
  } else {
    await say("Pay me");
  }
  await pass(5_000);
  expect(keys).toHaveLength(1);
  void engine.stop({ deadlineMs: 0 });
  const two = await world.started(connect(), {
    transports: [line],
    agents: { model: clerk, actions: [pay(() => ({ paid: true }))] },
  });
  await world.clock.advance(pastLease);
  const { data } = await two.agents.runs(agent.id);
  const run = await two.agents.run(agent.id, data[0]?.id ?? "");
  await stopped(two, world.clock);
  const told = line.calls.at(-1)?.message.body;
  return { keys, run, told, step: run.steps.findLast(({ type }) => type === "action") };
}

const risks = [{ risk: "write" }, { risk: "approval" }] as const;

describe("a call that was under way when its engine stopped", () => {
  test.each(risks)("is repeated under its key if it is idempotent: $risk", async ({ risk }) => {
    const { keys, run, told, step } = await takenOver({ risk, idempotent: true });
    expect(keys).toEqual([`${run.id}.1`, `${run.id}.1`]);
    expect(step).toMatchObject({ name: "pay", output: { paid: true }, error: null });
    expect(told).toBe("done");
  });

  test.each(risks)("is otherwise not repeated, and counts as failed: $risk", async ({ risk }) => {
    const { keys, run, told, step } = await takenOver({ risk, idempotent: false });
    expect(keys).toEqual([`${run.id}.1`]);
    expect(step).toMatchObject({ name: "pay", output: null, error: "outcome_unknown" });
    expect(told).toBe("outcome_unknown");
  });

  test.each(risks)("hands off if it failed and a rule says so: $risk", async ({ risk }) => {
    const { run } = await takenOver({ risk, idempotent: false, handsOff: true });
    expect(run.status).toBe("handed_off");
  });

  test("can still call the engine while the stop waits for it", async () => {
    const gate = held<undefined>();
    let isCalled = false;
    const rename = actionOf({
      name: "pay",
      input: z.strictObject({ what: z.string() }),
      risk: "write",
      idempotent: false,
      async execute(_, { contact }) {
        isCalled = true;
        await gate.promise;
        await made.engine.contacts.update(contact.id, { name: "Ann" });
        return { renamed: true };
      },
    });
    const ground = new SharedStorage(memory());
    const made = await agency(ground.connect(), {
      model: clerk,
      actions: [rename],
      agent: { handoff: { rules: [] } },
    });
    const { engine, agent, world, say, pass } = made;
    await say("Pay me");
    await pass(5_000);
    expect(isCalled).toBe(true);
    const stopping = stopped(engine, world.clock, 5_000);
    gate.answer(undefined);
    await stopping;
    const two = world.engine(ground.connect());
    const { data } = await two.agents.runs(agent.id);
    const { steps } = await two.agents.run(agent.id, data[0]?.id ?? "");
    const step = steps.findLast(({ type }) => type === "action");
    expect(step).toMatchObject({ name: "pay", output: { renamed: true }, error: null });
  });
});

/** Whether a commit records a call that is about to be made. */
const recordsCall = (write: Write): boolean =>
  write.kind === "update" &&
  write.collection === runs &&
  JSON.stringify(write.row["calls"]).includes('"pending"');

describe("a call that was recorded but not made", () => {
  /** A process stalls when the call is recorded. Returns what happened when another one took over. */
  async function stalled(
    idempotent: boolean,
    meanwhile: (engine: MessagingEngine, world: World, wake: () => void) => Promise<unknown>,
  ) {
    const calls: string[] = [];
    const pay = (by: string): Action =>
      actionOf({
        name: "pay",
        input: z.strictObject({ what: z.string() }),
        risk: "write",
        idempotent,
        execute(_, { idempotency_key }) {
          calls.push(`${by} ${idempotency_key}`);
          return { paid: true };
        },
      });
    const ground = new SharedStorage(memory());
    const gate = held<undefined>();
    let isStalled = false;
    const storage = ground.connect({
      async delay(stage, { writes = [] }) {
        if (stage === "outcome" && writes.some(recordsCall)) isStalled = true;
        if (isStalled) await gate.promise;
      },
    });
    const { engine, agent, world, line, say, pass } = await agency(storage, {
      model: clerk,
      actions: [pay("one")],
      agent: { handoff: { rules: [] } },
    });
    await say("Pay me");
    await pass(5_000);
    expect(isStalled).toBe(true);
    const two = world.engine(ground.connect(), {
      transports: [line],
      agents: { model: clerk, actions: [pay("two")] },
    });
    const wake = (): void => gate.answer(undefined);
    await meanwhile(engine, world, wake);
    await two.start();
    await world.clock.advance(pastLease);
    wake();
    await pass(10_000);
    const { data } = await two.agents.runs(agent.id);
    const run = await two.agents.run(agent.id, data[0]?.id ?? "");
    return { calls, run, told: line.calls.map(({ message }) => message.body) };
  }

  test.each([true, false])(
    "is made by the next engine if its own stops, idempotent: %s",
    async (idempotent) => {
      const { calls, run, told } = await stalled(idempotent, async (engine, { clock }, wake) => {
        const isOver = stopping(engine);
        await clock.advance(3_000);
        wake();
        await clock.settle();
        expect(isOver()).toBe(true);
      });
      expect(calls).toEqual([`two ${run.id}.1`]);
      expect(told).toEqual(["done"]);
    },
  );

  test("is not made after a stall in which another engine has made it", async () => {
    const { calls, run, told } = await stalled(true, async () => {});
    expect(calls).toEqual([`two ${run.id}.1`]);
    expect(told).toEqual(["done"]);
  });
});

/** An engine that gets no answer to the commit that records its first call. */
async function unanswered(idempotent: boolean) {
  const keys: string[] = [];
  const pay = actionOf({
    name: "pay",
    input: z.strictObject({ what: z.string() }),
    risk: "write",
    idempotent,
    execute(_, { idempotency_key }) {
      keys.push(idempotency_key);
      return { paid: true };
    },
  });
  const gate = held<undefined>();
  let isLost = false;
  const ground = new SharedStorage(memory());
  const storage = ground.connect({
    async delay(stage, { writes = [] }) {
      if (isLost || stage !== "outcome" || !writes.some(recordsCall)) return;
      isLost = true;
      await gate.promise;
      throw new TidingsError("storage_unavailable", "The connection was lost.");
    },
  });
  const made = await agency(storage, {
    model: clerk,
    actions: [pay],
    agent: { handoff: { rules: [] } },
  });
  const { line, say, pass } = made;
  const two = made.world.engine(ground.connect(), {
    transports: [line],
    agents: { model: clerk, actions: [pay] },
  });
  await say("Pay me");
  await pass(5_000);
  expect([isLost, keys]).toEqual([true, []]);
  const lose = (): void => gate.answer(undefined);
  return { ...made, two, keys, lose, told: () => line.calls.map(({ message }) => message.body) };
}

describe("a call whose record got no answer from the storage", () => {
  test.each([true, false])("is made once, idempotent: %s", async (idempotent) => {
    const { keys, lose, pass, told, runs } = await unanswered(idempotent);
    lose();
    await pass();
    const [run] = await runs();
    expect(keys).toEqual([`${run?.id}.1`]);
    expect(told()).toEqual(["done"]);
  });

  test.each([true, false])(
    "is made by the next engine if its own stops then, idempotent: %s",
    async (idempotent) => {
      const { engine, agent, world, two, keys, lose, told } = await unanswered(idempotent);
      const isOver = stopping(engine);
      await world.clock.advance(3_000);
      lose();
      await world.clock.advance(10_000);
      expect(isOver()).toBe(true);
      await two.start();
      await world.clock.advance(pastLease);
      const [run] = (await two.agents.runs(agent.id)).data;
      expect(keys).toEqual([`${run?.id}.1`]);
      expect(told()).toEqual(["done"]);
    },
  );
});

test("a call ends before another engine repeats it, also in a turn that began with a stall", async () => {
  const ground = new SharedStorage(memory());
  const gate = held<undefined>();
  const signals: AbortSignal[] = [];
  let isDoubled = false;
  const pay = (execute: (signal: AbortSignal) => unknown): Action =>
    actionOf({
      name: "pay",
      input: z.strictObject({ what: z.string() }),
      risk: "write",
      timeout_ms: 120_000,
      execute: (_, { signal }) => execute(signal),
    });
  const storage = ground.connect({
    async delay(stage, { writes = [] }) {
      const begins = writes.some(
        ({ kind, collection }) => kind === "insert" && collection === runs,
      );
      if (stage === "outcome" && begins) await gate.promise;
    },
  });
  const hanging = pay((signal) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const { world, line, say, pass } = await agency(storage, {
    model: clerk,
    actions: [hanging],
    agent: { handoff: { rules: [] }, limits: { timeout_ms: 120_000 } },
  });
  await say("Pay me");
  // The lease of the turn is 300 s long.
  await pass(250_000);
  gate.answer(undefined);
  await pass(10_000);
  expect(signals).toHaveLength(1);
  const paid = pay(() => {
    isDoubled = signals.some(({ aborted }) => !aborted);
    return { paid: true };
  });
  const agents = { model: clerk, actions: [paid] };
  await world.started(ground.connect(), { transports: [line], agents });
  await pass(300_000);
  expect(isDoubled).toBe(false);
});
