import { beforeAll, expect, test, vi } from "vitest";
import { withProject } from "../../build-descriptions.ts";
import { compilerEnvironment } from "../support/compile.ts";
import { publicNames, type PublicName } from "./public-types.ts";
import { schemaDifferences } from "./schema-docs.ts";

let names: readonly PublicName[] = [];
let differences: readonly string[] = [];

// To compile the product takes longer than to look at it.
beforeAll(async () => {
  for (const [name, value] of Object.entries(compilerEnvironment)) vi.stubEnv(name, value);
  await withProject(async (project) => {
    names = publicNames(project);
    differences = await schemaDifferences(project);
  });
  vi.unstubAllEnvs();
});

test("every name that users can reach has a docstring", () => {
  expect(names.length).toBeGreaterThan(0);
  const missing = names.filter(({ doc }) => doc === "").map(({ path }) => path);
  expect(missing).toEqual([]);
});

test("a type and its schema agree on fields, types and defaults", () => {
  expect(differences).toEqual([]);
});
