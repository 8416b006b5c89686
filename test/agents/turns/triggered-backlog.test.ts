/** Answers to contacts while many triggered runs wait. */
import { expect } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import { longTest } from "../../support/runs.ts";
import { rowsOf } from "../../support/storage/rows.ts";
import { actionOf } from "../actions.ts";
import { agency } from "../world.ts";

longTest(
  "a contact is answered at once while hundreds of slow triggered actions run and wait",
  async () => {
    const storage = memory();
    let wait = (): Promise<unknown> => Promise.resolve();
    const lookUp = actionOf({
      name: "look_up",
      input: z.strictObject({}),
      execute: async () => {
        await wait();
        return "found";
      },
    });
    const { world, engine, agent, say, pass, replies } = await agency(storage, {
      actions: [lookUp],
      agent: { reply: { debounce_ms: 1_500 }, limits: { max_triggers_per_minute: 1_000 } },
    });
    wait = () => world.clock.sleep(5_000);
    for (let i = 0; i < 200; i++) {
      const { id: contact_id } = await engine.contacts.create({ phone: `+1500556${1_000 + i}` });
      await engine.agents.trigger(agent.id, { contact_id, action: "look_up" });
    }
    await pass(100);
    const { work } = await engine.account().backlog();
    const turns = work.find(({ kind }) => kind === "turn");
    expect((turns?.due ?? 0) > 100, "Most triggered runs wait.").toBe(true);

    await say("Are you open?");
    await pass(2_000);
    expect(await replies()).toEqual(["You said: Are you open?"]);

    await pass(60_000);
    const ran = await rowsOf(storage, runs);
    expect(ran.map(({ status }) => status)).toEqual(Array.from({ length: 201 }, () => "completed"));
  },
);
