/** Playbooks that call others. */
import { expect, test } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { PlaybookId } from "../../../src/kernel/index.ts";
import { agency, survey } from "../world.ts";

test("an agent with many playbooks can play what any of them calls", async () => {
  const { engine, agent, ask } = await agency(memory());
  const create = async (name: string, calls: readonly PlaybookId[]): Promise<PlaybookId> => {
    const { id } = await engine.playbooks.create({
      name,
      enabled: true,
      trigger: { keywords: [name] },
      steps: [
        { id: "say", type: "send", text: `This is ${name}.` },
        ...calls.map((playbook_id, i) => ({ id: `call${i}`, type: "call" as const, playbook_id })),
      ],
    });
    return id;
  };
  const playbook_ids: PlaybookId[] = [];
  for (let i = 1; i <= 50; i++) {
    const calls = [await create(`first of ${i}`, []), await create(`second of ${i}`, [])];
    playbook_ids.push(await create(`topic${i}`, calls));
  }
  await engine.agents.update(agent.id, { playbook_ids });

  expect(await ask("topic50")).toEqual([
    "This is topic50.\n\nThis is first of 50.\n\nThis is second of 50.",
  ]);
});

test.each([
  { rules: [{ on: "guardrail" as const }], handler: "queue" },
  { rules: [], handler: "ai" },
])(
  "a playbook that is disabled ends where it has begun, and a call of it fails: $handler",
  async ({ rules, handler }) => {
    const made = await agency(memory(), { agent: { handoff: { rules } } });
    const { engine, agent, ask } = made;
    const called = await engine.playbooks.create({ ...survey, enabled: true });
    const caller = await engine.playbooks.create({
      name: "Start",
      enabled: true,
      trigger: { keywords: ["start"] },
      steps: [
        { id: "call", type: "call", playbook_id: called.id },
        { id: "bye", type: "send", text: "Goodbye." },
      ],
    });
    await engine.agents.update(agent.id, { playbook_ids: [caller.id] });
    expect(await ask("start")).toEqual(["From 1 to 5?"]);
    await expect(engine.playbooks.remove(called.id)).rejects.toMatchObject({ code: "conflict" });
    await engine.playbooks.update(called.id, { enabled: false });
    expect(await ask("4")).toEqual(["Thank you for the 4.\n\nGoodbye."]);
    await ask("start");
    expect(await made.conversation()).toMatchObject({ handler });
    expect((await made.runs()).at(-1)?.steps).toMatchObject([
      { name: "call", playbook: { outcome: "failed" } },
    ]);
  },
);
