/** What actions return, and what their schemas throw. */
import { expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../../adapters/storage/memory/index.ts";
import type { ModelAnswer, ModelTurn } from "../../../../src/ports/agent-model.ts";
import { actionOf } from "../../actions.ts";
import { nested } from "../../nested.ts";
import { agency } from "../../world.ts";

/** Calls the action once, and tells what came of it. */
const callOnce = ({ calls: [made] }: ModelTurn): ModelAnswer =>
  made === undefined
    ? { calls: [{ action: "look", input: {} }] }
    : { text: made.outcome.status === "failed" ? made.outcome.error : made.outcome.status };

const refused =
  "an action must return JSON of at most 16384 bytes and 100 levels of objects and lists";

test.each([
  ["nests 100 levels", nested(100), "done"],
  ["nests 101 levels", nested(101), refused],
  ["nests 1,900 levels", nested(1_900), refused],
  ["nests so deep that it cannot be written", nested(100_000), refused],
  ["has 16 KiB", "x".repeat(16_382), "done"],
  ["has more", "x".repeat(16_383), refused],
])("a result that %s leads to a reply, also in later turns", async (_, result, told) => {
  const look = actionOf({
    name: "look",
    input: z.object({}),
    risk: "write",
    execute: () => result,
  });
  const { ask } = await agency(memory(), {
    actions: [look],
    model: callOnce,
    agent: { handoff: { rules: [] } },
  });
  expect([await ask("Hello"), await ask("Hello again")]).toEqual([[told], [told]]);
});

test("a schema that throws is logged, without what it says", async () => {
  const look = actionOf({
    name: "look",
    input: z.object({}).refine(() => {
      throw new TypeError("swordfish");
    }),
    execute: () => 1,
  });
  const { ask, world, runs } = await agency(memory(), {
    actions: [look],
    model: callOnce,
    agent: { handoff: { rules: [] } },
  });
  expect(await ask("Hello")).toEqual(["the input could not be checked"]);
  const [run] = await runs();
  expect(world.log).toMatchObject([
    {
      level: "warn",
      message: "the input schema of an action failed",
      facts: { action: "look", run_id: run?.id, err: { name: "TypeError" } },
    },
  ]);
  expect(JSON.stringify(world.log)).not.toContain("swordfish");
});
