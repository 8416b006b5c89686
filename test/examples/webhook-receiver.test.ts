import { expect, test } from "vitest";
import { start } from "./program.ts";

test("a receiver handles each event once, recognizes a repeated one, and refuses a forged one", async () => {
  await using program = start("examples/webhook-receiver/main.ts");
  expect(await program.ended(), program.output() + (await program.errors())).toBe(0);
  const output = program.output();
  expect(output).toMatch(/^received message\.sent evt_\w+$/m);
  const [received = ""] = /^received message\.received evt_\w+$/m.exec(output) ?? [];
  expect(output.trim().split("\n").slice(2)).toEqual([
    "refused a forged event: 401",
    `${received} again: already handled`,
  ]);
});
