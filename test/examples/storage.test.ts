import { storageConformance } from "tidings/testing";
import { describe, expect, it, test } from "vitest";
import { arrays, emptyDatabase } from "../../examples/storage/arrays.ts";
import { start } from "./program.ts";

storageConformance({ describe, it }, "the example of an own storage", async () => {
  const database = emptyDatabase();
  return { connect: () => arrays(database) };
});

test("the example of an own storage delivers a message, and ends", async () => {
  await using program = start("examples/storage/main.ts");
  expect(await program.ended(), await program.errors()).toBe(0);
  expect(program.output()).toBe("delivered: Hello\n");
});
