import { expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import { awaitingRuns, openRuns, runs } from "../../src/agents/runs/rows.ts";
import { maxHistory } from "../../src/agents/runs/rules.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { messages } from "../../src/messages/rows.ts";
import type { Message } from "../../src/messages/types.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import type { ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import type { Index } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { actionOf } from "../agents/actions.ts";
import { agency, visitor } from "../agents/world.ts";
import { carrier, held } from "../support/engines/carrier.ts";
import { stopping, world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { beforeCommits, overtaken, writesTo } from "../support/storage/groups.ts";
import { readingByIndex } from "../support/storage/reading-by-index.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";

const pay = actionOf({
  name: "pay_out",
  input: z.strictObject({ said: z.string() }),
  risk: "approval",
  idempotent: false,
  execute: () => ({ paid: 1 }),
});

/** Quotes what the contact wrote in the input of the action. */
const quoting = ({ calls, messages: heard }: ModelTurn): ModelAnswer =>
  calls.length === 0
    ? { calls: [{ action: "pay_out", input: { said: heard.map(({ text }) => text).join(" ") } }] }
    : { text: "Thanks" };

/** Whether the row of a message is written: by a redaction, and nothing else in these tests. */
const redacts = writesTo(messages, "update");

const storedResponses = (storage: StoragePort): Promise<readonly object[]> =>
  rowsOf(storage, idempotency);

const keyed = { idempotencyKey: "k" };

/** Commands that show a message without changing it. */
const showing: Readonly<
  Record<string, (engine: MessagingEngine, message: Message) => Promise<unknown>>
> = {
  "an update of its conversation": ({ conversations }, { conversation_id }) =>
    conversations.update(conversation_id, {}, keyed),
  "opening its conversation": ({ conversations }, { contact_id }) =>
    conversations.open({ to: contact_id }, keyed),
  "a receipt that came before": ({ sandbox }, { id }) =>
    sandbox.receipts(id, [{ status: "sent" }], keyed),
};

it.each(Object.entries(showing))(
  "the response to %s loses the text of a message that is redacted meanwhile",
  async (_name, show) => {
    const storage = memory();
    const { clock, engine, started } = world();
    const options = { transports: [carrier()] };
    const other = await started(storage, options);
    const { id } = await other.messages.send({ to: visitor, body: "swordfish" });
    await clock.advance(60_000);
    const message = await other.messages.get(id);
    const one = engine(
      overtaken(storage, redacts, async () => {
        expect(JSON.stringify(await show(other, message))).toContain("swordfish");
      }),
      options,
    );
    const redacted = await one.messages.redact(id, { idempotencyKey: "redact" });
    expect(await one.messages.redact(id, { idempotencyKey: "redact" })).toEqual(redacted);
    const stored = await storedResponses(storage);
    expect(stored).toHaveLength(2);
    expect(JSON.stringify(stored)).not.toContain("swordfish");
  },
);

it("a redaction that a new run overtakes is refused until the run has ended", async () => {
  const storage = memory();
  const { engine, world, agent, line } = await agency(storage, { actions: [pay] });
  await engine.stop({ deadlineMs: 0 });
  // The run has begun and waits for the model when the redaction commits.
  const respond = async (turn: ModelTurn): Promise<ModelAnswer> => {
    await world.clock.sleep(3_000);
    return quoting(turn);
  };
  const agents = { model: { respond }, actions: [pay] };
  const worker = world.engine(storage, { transports: [line], agents });
  const front = world.engine(
    overtaken(storage, redacts, async () => {
      await worker.start();
      await world.clock.advance(2_000);
    }),
    { transports: [line] },
  );
  const { id } = await front.sandbox.inbound({ from: visitor, body: "swordfish" });
  await expect(front.messages.redact(id)).rejects.toMatchObject({ code: "conflict" });

  await world.clock.advance(60_000);
  const [run] = (await worker.agents.runs(agent.id)).data;
  expect(JSON.stringify(run?.steps)).toContain("swordfish");
  const decision = { decision: "approve" } as const;
  await worker.agents.approve(agent.id, run?.id ?? "", decision, { idempotencyKey: "k" });
  await world.clock.advance(60_000);
  await front.messages.redact(id);
  const [ended] = (await worker.agents.runs(agent.id)).data;
  expect(ended?.status).toBe("completed");
  const stored = await storedResponses(storage);
  expect(stored).toHaveLength(1);
  expect(JSON.stringify([ended, stored])).not.toContain("swordfish");
});

it("a redaction is refused if a turn that was due before begins ahead of its commit", async () => {
  const storage = memory();
  const { engine, world, line } = await agency(storage);
  await engine.stop({ deadlineMs: 0 });
  const due = held<void>();
  const gate = held<void>();
  const slow = beforeCommits(storage, async (writes) => {
    if (!writes.some(writesTo(runs, "insert"))) return;
    due.answer();
    await gate.promise;
  });
  const answer = held<ModelAnswer>();
  const agents = { model: { respond: () => answer.promise } };
  const worker = world.engine(slow, { transports: [line], agents });
  const front = world.engine(
    overtaken(storage, redacts, async () => {
      gate.answer();
      await world.clock.settle();
      expect(await rowsOf(storage, runs)).toHaveLength(1);
    }),
    { transports: [line] },
  );
  const { id } = await front.sandbox.inbound({ from: visitor, body: "swordfish" });
  await worker.start();
  await world.clock.advance(5_000);
  await due.promise;
  expect(await outcome(front.messages.redact(id))).toBe("conflict");
  answer.answer({ text: "Hello" });
});

it("a redaction is refused if an action asks for an approval right after it has read the waiting runs", async () => {
  const storage = memory();
  const { engine, agent, world, line, say } = await agency(storage, { actions: [pay] });
  const { id, conversation_id } = await say("swordfish");
  await engine.stop({ deadlineMs: 0 });
  const agents = { model: { respond: quoting }, actions: [pay] };
  const worker = world.engine(storage, { transports: [line], agents });
  const input = { said: "swordfish" };
  await worker.agents.trigger(agent.id, { conversation_id, action: pay.name, input });
  let isRedacting = true;
  const slow = readingByIndex(storage, async (index) => {
    if (!isRedacting || index !== awaitingRuns) return;
    isRedacting = false;
    await worker.start();
    await world.clock.settle();
  });
  const front = world.engine(slow, { transports: [line] });
  expect(await outcome(front.messages.redact(id))).toBe("conflict");
  const { data } = await worker.agents.runs(agent.id);
  expect(data).toMatchObject([{ status: "awaiting_approval" }]);
});

it.each<[string, Index]>([
  ["waiting", awaitingRuns],
  ["open", openRuns],
])(
  "a redaction is refused if a run is approved right after it has read the %s runs",
  async (_, list) => {
    const storage = memory();
    const gate = held<undefined>();
    const { engine, agent, say, ask, pass, line, world, runs } = await agency(storage, {
      actions: [pay],
      agent: { limits: { max_ai_turns: 100 } },
      model: async (turn) => {
        const last = turn.messages.at(-1)?.text;
        if (last === "slow") await gate.promise;
        return last === "swordfish" ? quoting(turn) : { text: "Yes" };
      },
    });
    const { id } = await say("swordfish");
    await pass();
    const waiting = (await runs()).find(({ status }) => status === "awaiting_approval");
    for (let n = 0; n < maxHistory; n++) await ask(`Text ${n}`);
    // The turn in progress does not read the message any more, and its job is already due again.
    await say("slow");
    await pass(3_000);
    await say("Are you there?");
    let isRedacting = true;
    const slow = readingByIndex(storage, async (index) => {
      if (!isRedacting || index !== list) return;
      isRedacting = false;
      await engine.agents.approve(agent.id, waiting?.id ?? "", { decision: "approve" });
    });
    const front = world.engine(slow, { transports: [line] });
    expect(await outcome(front.messages.redact(id))).toBe("conflict");
    expect(isRedacting).toBe(false);

    gate.answer(undefined);
    await pass(60_000);
    expect(await outcome(front.messages.redact(id))).toBe("done");
    expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
  },
);

/** A person takes a conversation over, answers, and hands it back. This ends the agent's run. */
async function answerInstead({ conversations }: MessagingEngine, id: string): Promise<void> {
  await conversations.handOff(id, { reason: "I take over." });
  await conversations.reply(id, { body: "This is Eve." });
  await conversations.handBack(id);
}

it.each(["answers", "fails"])(
  "a call of an action that %s after a person has answered instead brings no redacted text back",
  async (how) => {
    const storage = memory();
    const gate = held<undefined>();
    const order = actionOf({
      name: "order",
      input: z.strictObject({ said: z.string() }),
      risk: "write",
      idempotent: false,
      async execute({ said }) {
        await gate.promise;
        if (how === "fails") throw new Error(`cannot order ${said}`);
        return { ordered: said };
      },
    });
    const { engine, say, pass, conversation } = await agency(storage, {
      actions: [order],
      model: ({ calls, messages: heard }) =>
        calls.length === 0
          ? { calls: [{ action: "order", input: { said: heard.at(-1)?.text ?? "" } }] }
          : { text: "Thanks" },
    });
    const { id } = await say("swordfish");
    await pass(5_000);
    const calls = async () => (await rowsOf(storage, runs)).flatMap((run) => run.calls);
    expect(await calls()).toMatchObject([{ status: "pending", input: { said: "swordfish" } }]);
    await answerInstead(engine, (await conversation()).id);
    await engine.messages.redact(id);
    expect(await tablesWith(storage, ["swordfish"])).toEqual([]);

    gate.answer(undefined);
    await pass();

    expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
    const status = how === "fails" ? "failed" : "done";
    expect(await calls()).toMatchObject([{ status, input: null, output: null, error: null }]);
  },
);

it("a call that quotes what many unsent messages hide brings no redacted text back", async () => {
  const storage = memory();
  const gate = held<undefined>();
  const order = actionOf({
    name: "order",
    input: z.strictObject({ said: z.string() }),
    risk: "write",
    idempotent: false,
    async execute({ said }) {
      await gate.promise;
      return { ordered: said };
    },
  });
  const { engine, world, ask, say, pass, thread, conversation } = await agency(storage, {
    actions: [order],
    model: ({ messages: heard }) =>
      heard.at(-1)?.text === "order"
        ? { calls: [{ action: "order", input: { said: heard[0]?.text ?? "" } }] }
        : { text: "Yes" },
  });
  await ask("swordfish");
  const [first] = await thread();
  const send_at = new Date(world.clock.now() + 86_400_000).toISOString();
  for (let n = 0; n < maxHistory; n++) {
    await engine.messages.send({ to: visitor, body: `Notice ${n}`, send_at });
  }
  await say("order");
  await pass(5_000);
  expect(JSON.stringify(await rowsOf(storage, runs))).toContain("swordfish");
  await answerInstead(engine, (await conversation()).id);
  await engine.messages.redact(first?.id ?? "");
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);

  gate.answer(undefined);
  await pass();

  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

it("a repeated call that an engine takes back when it stops brings no redacted text back", async () => {
  const ground = new SharedStorage(memory());
  const gate = held<undefined>();
  let recorded = 0;
  const storage = ground.connect({
    async delay(stage, { writes = [] }) {
      const isRecord = writes.some(
        (write) => write.kind === "update" && /"pending"/.test(JSON.stringify(write.row["calls"])),
      );
      if (stage === "outcome" && isRecord) recorded++;
      if (recorded === 2) await gate.promise;
    },
  });
  const order = actionOf({
    name: "order",
    input: z.strictObject({ said: z.string() }),
    risk: "write",
    timeout_ms: 1_000,
    execute: () => new Promise(() => {}),
  });
  const { engine, line, say, pass, world } = await agency(storage, {
    actions: [order],
    agent: { handoff: { rules: [] } },
    // The call fails with `timed_out`, and is asked for again.
    model: ({ messages: heard }) => ({
      calls: [{ action: "order", input: { said: heard.at(-1)?.text ?? "" } }],
    }),
  });
  const { id, conversation_id } = await say("swordfish");
  await pass(5_000);
  expect(recorded).toBe(2);
  const other = world.engine(ground.connect(), { transports: [line] });
  await answerInstead(other, conversation_id);
  await other.messages.redact(id);
  expect(await tablesWith(ground.connect(), ["swordfish"])).toEqual([]);

  const isOver = stopping(engine);
  await world.clock.advance(3_000);
  gate.answer(undefined);
  await world.clock.settle();

  expect(isOver()).toBe(true);
  expect(await tablesWith(ground.connect(), ["swordfish"])).toEqual([]);
});
