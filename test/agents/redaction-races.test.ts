import { expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import { messages } from "../../src/messages/rows.ts";
import { idempotency } from "../../src/operations/idempotency.ts";
import { action } from "../../src/ports/action.ts";
import type { ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import { jobs } from "../../src/queue/rows.ts";
import { beforeCommits } from "../support/before-commits.ts";
import { agency, visitor } from "./world.ts";

const pay = action({
  name: "pay_out",
  description: "Pays out.",
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

it("a run that begins while its message is redacted loses the text once it has ended", async () => {
  const storage = memory();
  const { engine, world, agent, line } = await agency(storage, { actions: [pay] });
  await engine.stop({ deadlineMs: 0 });
  const agents = { model: { respond: async (turn: ModelTurn) => quoting(turn) }, actions: [pay] };
  const worker = world.engine(storage, { transports: [line], agents });
  let isRedacting = false;
  const front = world.engine(
    beforeCommits(storage, async (writes) => {
      const redacts = writes.some(
        ({ kind, collection }) => kind === "update" && collection === messages,
      );
      if (!redacts || !isRedacting) return;
      isRedacting = false;
      await worker.start();
      await world.clock.advance(5_000);
    }),
    { transports: [line] },
  );
  const { id } = await front.sandbox.inbound({ from: visitor, body: "swordfish" });
  isRedacting = true;
  await front.messages.redact(id);
  expect(isRedacting).toBe(false);

  const [run] = (await worker.agents.runs(agent.id)).data;
  expect(JSON.stringify(run?.steps)).toContain("swordfish");
  const decision = { decision: "approve" } as const;
  await worker.agents.approve(agent.id, run?.id ?? "", decision, { idempotencyKey: "k" });
  await world.clock.advance(300_000);
  const [ended] = (await worker.agents.runs(agent.id)).data;
  expect(ended?.status).toBe("completed");
  const stored = await storage.reader.range({
    index: idempotency.primary,
    prefix: [],
    order: "ascending",
    limit: 100,
  });
  expect(stored).toHaveLength(1);
  expect(JSON.stringify([ended, stored])).not.toContain("swordfish");
});

it("a run that begins well after a redaction keeps its text, even if the redaction finishes late", async () => {
  const storage = memory();
  const { engine, world, agent, line, ask, thread } = await agency(storage);
  await ask("swordfish");
  const [first] = await thread();
  await engine.stop({ deadlineMs: 0 });
  const front = world.engine(storage, { transports: [line] });
  await front.messages.redact(first?.id ?? "");
  await world.clock.advance(60_000);
  await front.sandbox.inbound({ from: visitor, body: "What is the weather?" });
  const worker = world.engine(storage, {
    transports: [line],
    agents: { model: { respond: async () => ({ text: "Sunny" }) } },
  });
  await worker.start();
  await world.clock.advance(120_000);
  const redactions = await storage.reader.range({
    index: jobs.primary,
    prefix: ["redact"],
    order: "ascending",
    limit: 10,
  });
  expect(redactions).toEqual([]);
  const [latest, earlier] = (await worker.agents.runs(agent.id)).data;
  expect(JSON.stringify(latest?.steps)).toContain("Sunny");
  expect(JSON.stringify(earlier?.steps)).not.toContain("swordfish");
});
