import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { actionOf } from "../actions.ts";
import { agency } from "../world.ts";

describe("the limit of replies per minute", () => {
  test("holds back replies; one reply then answers what waited", async () => {
    const { say, pass, replies } = await agency(memory(), {
      agent: { reply: { debounce_ms: 0 }, limits: { max_replies_per_minute: 3 } },
    });
    for (let n = 0; n < 10; n++) {
      await say(`This is ${n}`);
      await pass(2_000);
    }
    expect(await replies()).toHaveLength(3);
    await pass(60_000);
    expect((await replies()).slice(3)).toEqual(["You said: This is 9"]);
  });

  test("holds back triggered playbooks and replies after an approval", async () => {
    const notice = {
      name: "Notice",
      steps: [{ id: "told", type: "send" as const, text: "Your table is free." }],
    };
    const pay = actionOf({
      name: "pay",
      input: z.strictObject({}),
      risk: "approval",
      idempotent: false,
    });
    const { engine, agent, ask, pass, replies, runs, conversation } = await agency(memory(), {
      playbooks: [notice],
      actions: [pay],
      model: ({ calls: [call] }) =>
        call === undefined ? { calls: [{ action: "pay", input: {} }] } : { text: "I see." },
      agent: { limits: { max_replies_per_minute: 3 } },
    });
    expect(await ask("Pay me")).toEqual(["I see."]);
    const { id: conversation_id } = await conversation();
    const [playbook_id] = agent.playbook_ids;
    for (let n = 0; n < 4; n++) {
      await engine.agents.trigger(agent.id, { conversation_id, playbook_id });
    }
    const [asked] = await runs();
    await engine.agents.approve(agent.id, asked?.id ?? "", { decision: "approve" });
    const counts: number[] = [];
    for (let n = 0; n < 3; n++) {
      await pass(30_000);
      counts.push((await replies()).length);
    }
    expect(counts).toEqual([3, 6, 6]);
    const ended = (await runs()).map(({ status }) => status);
    expect(ended).toEqual(Array.from({ length: 5 }, () => "completed"));
  });

  test("holds no reply back for longer after the clock was set back", async () => {
    const { world, ask, pass, replies } = await agency(memory(), {
      agent: { limits: { max_replies_per_minute: 1 } },
    });
    await ask("Hello");
    world.clock.step(-3_600_000);
    await ask("Are you open?");
    await pass(60_000);
    expect(await replies()).toHaveLength(2);
  });
});
