/** Redactions of messages in conversations with more agent runs than one transaction handles. */
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { english } from "../../adapters/language/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import { MessagingEngine } from "../../src/engine.ts";
import type { ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { actionOf } from "../agents/actions.ts";
import { agency, visitor } from "../agents/world.ts";
import { carrier, held } from "../support/engines/carrier.ts";
import { stopped } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { cases, pointsApart } from "../support/runs.ts";
import { beforeCommits, mortal } from "../support/storage/groups.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { receivers } from "../webhooks/receivers.ts";
import { withEarlierRuns } from "./earlier-runs.ts";

/** A model that observes the last message. Its run quotes all messages that it has read. */
function quoting({ messages: heard }: ModelTurn): ModelAnswer {
  const texts = heard.map(({ text }) => text);
  const observed = { content: texts.at(-1) ?? "", kind: "any" };
  return { text: "Hello", intent: texts.join(" ").slice(0, 100), observations: [observed] };
}

it.each(lightStorages)(
  "a redaction reaches the latest of many runs, on $name",
  async ({ open }) => {
    const storage = open().connect();
    const { engine, say, pass } = await agency(storage, { model: quoting });
    await say("Hello");
    await pass();
    await withEarlierRuns(storage, 600);
    const { id } = await say("swordfish");
    await pass();
    expect(await tablesWith(storage, ["swordfish"])).toContain("runs: swordfish");

    await engine.messages.redact(id, { idempotencyKey: "k" });
    await pass();

    expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
    expect(await engine.messages.redact(id, { idempotencyKey: "k" })).toMatchObject({ body: null });
    expect(await isRedacting(storage)).toBe(false);
  },
);

it("a redaction is refused while the latest of many runs is in progress", async () => {
  const storage = memory();
  const { engine, say, pass, world } = await agency(storage, {
    model: async (turn) => {
      await world.clock.sleep(3_000);
      return quoting(turn);
    },
  });
  await say("Hello");
  await pass();
  // More than the redaction reads when it looks for runs in progress.
  await withEarlierRuns(storage, 1_100);
  const { id } = await say("swordfish");
  await pass(3_000);
  expect(await outcome(engine.messages.redact(id))).toBe("conflict");
  await pass();
  expect(await outcome(engine.messages.redact(id))).toBe("done");
  await pass();
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

it("a redaction is refused while more runs wait for an approval than it reads", async () => {
  const storage = memory();
  const order = actionOf({
    name: "order",
    input: z.strictObject({ said: z.string() }),
    risk: "approval",
    execute: ({ said }) => ({ ordered: said }),
  });
  const { engine, say, pass } = await agency(storage, {
    actions: [order],
    model: ({ messages: heard }) => ({
      calls: [{ action: "order", input: { said: heard.at(-1)?.text ?? "" } }],
    }),
  });
  const { id } = await say("swordfish");
  await pass();
  const [quoting] = await rowsOf(storage, runs);
  if (quoting === undefined) throw new Error("there is no run");
  expect(quoting).toMatchObject({ status: "awaiting_approval" });
  // They have earlier deadlines and do not quote the message.
  await storage.begin().commit(
    Array.from({ length: 1_000 }, (_, n) => {
      const ids = { id: `run_${String(n).padStart(26, "0")}`, message_ids: [] };
      const row = { ...quoting, ...ids, heard_through: 2_000, read_from: 2_000, approve_by: n };
      return { kind: "insert" as const, collection: runs, row };
    }),
  );
  expect(await outcome(engine.messages.redact(id))).toBe("conflict");
});

it("a redaction is refused while a turn may read a message before a thousand canceled ones", async () => {
  const storage = memory();
  const gate = held<undefined>();
  const { engine, world, ask, say, pass } = await agency(storage, {
    model: async (turn) => {
      if (turn.messages.length > 1) await gate.promise;
      return quoting(turn);
    },
  });
  await ask("swordfish");
  const [first] = (await engine.messages.list({ direction: "inbound" })).data;
  const send_at = new Date(world.clock.now() + 86_400_000).toISOString();
  // Each takes a number when it is written, and another one when it is canceled.
  for (let n = 0; n < 500; n++) {
    const { id } = await engine.messages.send({ to: visitor, body: `Notice ${n}`, send_at });
    await engine.messages.cancel(id);
  }
  await say("Are you there?");
  await pass(5_000);
  expect(await outcome(engine.messages.redact(first?.id ?? ""))).toBe("conflict");

  gate.answer(undefined);
  await pass();
  expect(JSON.stringify(await rowsOf(storage, runs))).toContain("swordfish Hello");
  expect(await outcome(engine.messages.redact(first?.id ?? ""))).toBe("done");
  await pass();
  expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
});

/** Few rows, so that a short conversation takes several transactions. */
const historyChunks = { moved: 2, rows: 2, parts: 3, deliveries: 2, responses: 2 };

/** A conversation with more runs than one transaction handles. */
async function longConversation(ground: StoragePort, storage: StoragePort) {
  const { clock, random } = simulated();
  const connect = (port: StoragePort): MessagingEngine => {
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
    return engine;
  };
  const one = connect(storage);
  await one.start();
  await one.webhooks.create({ url: "https://hooks.example.com/", events: ["*"] });
  await one.agents.create({ name: "Ada", channels: ["sms"], instructions: "Answer." });
  const { id, contact_id } = await one.sandbox.inbound({ from: visitor, body: "swordfish" });
  for (let n = 0; n < 5; n++) {
    await clock.advance(10_000);
    await one.sandbox.inbound({ from: visitor, body: `Text ${n}` });
  }
  await clock.advance(10_000);
  expect(await rowsOf(ground, runs)).toHaveLength(6);
  return { clock, connect, one, id, contact_id };
}

it("another engine completes a redaction wherever its engine crashes, and later runs stay", async () => {
  let crashes = 0;
  const apart = pointsApart(3);
  for (let commits = 1, isCut = true; isCut; commits += apart) {
    const ground = memory();
    const { storage, dieAfter } = mortal(ground);
    const { clock, connect, one, id, contact_id } = await longConversation(ground, storage);

    dieAfter(commits);
    expect(await outcome(one.messages.redact(id))).toBe("done");
    await clock.settle();
    isCut = await isRedacting(ground);
    crashes += Number(isCut);
    const other = connect(ground);
    await other.start();
    await clock.advance(120_000);

    const where = `after ${commits} commits`;
    expect(await tablesWith(ground, ["swordfish"]), where).toEqual([]);
    expect(await isRedacting(ground), where).toBe(false);
    expect((await other.contacts.observations(contact_id)).data, where).toHaveLength(5);
    await other.sandbox.inbound({ from: visitor, body: "catfish" });
    await clock.advance(120_000);
    expect(await tablesWith(ground, ["catfish"]), where).toContain("runs: catfish");
  }
  expect(crashes * apart).toBeGreaterThan(4);
});

async function isRedacting(storage: StoragePort): Promise<boolean> {
  return (await rowsOf(storage, jobs)).some(({ kind }) => kind === "redact");
}

const acts: readonly (readonly [
  string,
  (engine: MessagingEngine, contact_id: string) => Promise<unknown>,
])[] = [
  ["is erased", ({ contacts }, id) => contacts.erase(id)],
  [
    "is merged into another one",
    async ({ contacts }, id) => contacts.merge((await contacts.create({ name: "Ann" })).id, id),
  ],
  ["writes again", ({ sandbox }) => sandbox.inbound({ from: visitor, body: "Are you there?" })],
];

describe.each(cases(acts, ([name]) => name === "is erased"))("while the contact %s", (_, act) => {
  it("a redaction removes the text, before whichever commit that happens", async () => {
    let overtaken = 0;
    const apart = pointsApart(4);
    for (let before = apart, isOver = false; !isOver; before += apart) {
      const ground = memory();
      let commits = -1;
      const slow = beforeCommits(ground, async () => {
        if (commits < 0 || ++commits !== before) return;
        overtaken++;
        await act(other, contact_id);
      });
      const { clock, connect, one, id, contact_id } = await longConversation(ground, slow);
      const other = connect(ground);

      commits = 0;
      const redacted = await outcome(one.messages.redact(id));
      await clock.advance(120_000);
      isOver = commits < before;

      const where = `before commit ${before}`;
      // A message that is gone, or that an agent answers now, cannot be redacted.
      if (redacted !== "done") expect(["not_found", "conflict"], where).toContain(redacted);
      else expect(await tablesWith(ground, ["swordfish"]), where).toEqual([]);
      expect(await isRedacting(ground), where).toBe(false);
    }
    expect(overtaken * apart).toBeGreaterThan(4);
  });
});
