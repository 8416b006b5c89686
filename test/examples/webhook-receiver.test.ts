import { expect, test } from "vitest";
import { start } from "./program.ts";

test("a receiver acts once on each event, knows it when it comes again, and refuses what is forged", async () => {
  await using program = start("examples/webhook-receiver/main.ts");
  expect(await program.ended(), program.output() + (await program.complaint())).toBe(0);
  const output = program.output();
  expect(output).toMatch(/^message\.sent evt_\w+$/m);
  const [received = ""] = /^message\.received evt_\w+$/m.exec(output) ?? [];
  expect(output.trim().split("\n").slice(2)).toEqual([
    "a forged one: 401",
    `${received} once more: nothing to do`,
  ]);
});
