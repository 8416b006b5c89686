import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { PlaybookId } from "../../src/kernel/index.ts";
import { agency } from "./world.ts";

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
