/** Redactions of messages in conversations with more agent runs than one transaction handles. */
import { expect, it, onTestFinished } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { english } from "../../adapters/language/index.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import { MessagingEngine } from "../../src/engine.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import type { ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { agency, visitor } from "../agents/world.ts";
import { mortal, outcome } from "../contacts/helpers.ts";
import { rowsOf, tablesWith } from "../contacts/rows.ts";
import { carrier } from "../support/carrier.ts";
import { silent } from "../../src/ports/logger.ts";
import { stopped } from "../support/world.ts";
import { receivers } from "../webhooks/receivers.ts";

/** Observes the last message. The run quotes all that were read. */
function quoting({ messages: heard }: ModelTurn): ModelAnswer {
  const texts = heard.map(({ text }) => text);
  const observed = { content: texts.at(-1) ?? "", kind: "any" };
  return { text: "Hello", intent: texts.join(" ").slice(0, 100), observations: [observed] };
}

/** Stores many copies of the first run, which ended before everything else. */
async function withEarlierRuns(storage: StoragePort, count: number): Promise<void> {
  const [first] = await rowsOf(storage, runs);
  if (first === undefined) throw new Error("there is no run");
  await storage.begin().commit(
    Array.from({ length: count }, (_, i) => {
      const id = `run_${String(i).padStart(26, "0")}`;
      const row = { ...first, id, steps: [], calls: [], result: null, finished_at: 0, version: 1 };
      return { kind: "insert" as const, collection: runs, row };
    }),
  );
}

it("removes the text from the latest runs of a conversation, however many it has", async () => {
  const storage = memory();
  const { engine, say, pass } = await agency(storage, { model: quoting });
  await say("Hello");
  await pass();
  await withEarlierRuns(storage, 10_000);
  const { id } = await say("swordfish");
  await pass();
  expect(await tablesWith(storage, ["swordfish"])).toContain("runs: swordfish");

  await engine.messages.redact(id, { idempotencyKey: "k" });
  await pass();

  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
  expect(await engine.messages.redact(id, { idempotencyKey: "k" })).toMatchObject({ body: null });
  expect((await rowsOf(storage, jobs)).map(({ kind }) => kind)).not.toContain("redact");
});

it("is refused while the latest of many runs is in progress", async () => {
  const storage = memory();
  const { engine, say, pass, world } = await agency(storage, {
    model: async (turn) => {
      await world.clock.sleep(3_000);
      return quoting(turn);
    },
  });
  await say("Hello");
  await pass();
  await withEarlierRuns(storage, 10_000);
  const { id } = await say("swordfish");
  await pass(3_000);
  expect(await outcome(engine.messages.redact(id))).toBe("conflict");
  await pass();
  expect(await outcome(engine.messages.redact(id))).toBe("done");
  await pass();
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

/** Few rows, so that a short conversation takes several transactions. */
const historyChunks = { moved: 2, rows: 2, parts: 3, deliveries: 2, responses: 2 };

it("is completed by another engine wherever its engine crashes, and leaves later runs alone", async () => {
  let crashes = 0;
  for (let commits = 1, isCut = true; isCut; commits++) {
    const { clock, random } = simulated();
    const ground = memory();
    const { storage, dieAfter } = mortal(ground);
    const start = async (port: StoragePort): Promise<MessagingEngine> => {
      const engine = new MessagingEngine(
        {
          storage: port,
          transports: [carrier()],
          http: { client: receivers(clock).client },
          agents: { model: quoting },
        },
        { clock, random, logger: silent, language: english(), historyChunks },
      );
      onTestFinished(() => stopped(engine, clock));
      await engine.start();
      return engine;
    };
    const one = await start(storage);
    await one.webhooks.create({ url: "https://hooks.example.com/", events: ["*"] });
    await one.agents.create({ name: "Ada", channels: ["sms"], instructions: "Answer." });
    const { id, contact_id } = await one.sandbox.inbound({
      from: visitor,
      body: "swordfish",
    });
    for (let n = 0; n < 5; n++) {
      await clock.advance(10_000);
      await one.sandbox.inbound({ from: visitor, body: `Text ${n}` });
    }
    await clock.advance(10_000);
    const all = await rowsOf(ground, runs);
    expect(all).toHaveLength(6);

    dieAfter(commits);
    expect(await outcome(one.messages.redact(id))).toBe("done");
    await clock.settle();
    isCut = (await rowsOf(ground, jobs)).some(({ kind }) => kind === "redact");
    crashes += Number(isCut);
    const other = await start(ground);
    await clock.advance(120_000);

    const where = `after ${commits} commits`;
    expect(await tablesWith(ground, ["swordfish"]), where).toEqual([]);
    expect((await rowsOf(ground, jobs)).map(({ kind }) => kind)).not.toContain("redact");
    expect((await other.contacts.observations(contact_id)).data, where).toHaveLength(5);
    await other.sandbox.inbound({ from: visitor, body: "catfish" });
    await clock.advance(120_000);
    expect(await tablesWith(ground, ["catfish"]), where).toContain("runs: catfish");
  }
  expect(crashes).toBeGreaterThan(4);
});
