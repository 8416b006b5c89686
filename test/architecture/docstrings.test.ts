import { expect, test } from "vitest";
import { publicNames, withProject } from "./public-types.ts";
import { schemaDifferences } from "./schema-docs.ts";

test("every name that users can reach has a docstring", async () => {
  const names = await withProject(publicNames);
  const missing = names.filter(({ doc }) => doc === "").map(({ path }) => path);
  expect(missing).toEqual([]);
});

test("a type and its schema agree on fields, types and descriptions", async () => {
  expect(await withProject(schemaDifferences)).toEqual([]);
});
