import { resolve } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { withProject } from "../../build-descriptions.ts";
import { entries } from "../../tsup.config.ts";
import { compilerEnvironment } from "../support/compile.ts";
import { newerThan } from "./oldest-node.ts";
import {
  exportedNames,
  publicTypes,
  root,
  type ExportedName,
  type PublicName,
} from "./public-types.ts";
import { schemaDifferences } from "./schema-docs.ts";

let names: readonly PublicName[] = [];
let unexported: readonly string[] = [];
let exported: readonly ExportedName[] = [];
let differences: readonly string[] = [];
let newer: readonly string[] = [];

// To compile the product takes longer than to look at it.
beforeAll(async () => {
  for (const [name, value] of Object.entries(compilerEnvironment)) vi.stubEnv(name, value);
  await withProject(async (project) => {
    ({ names, unexported } = publicTypes(project));
    exported = exportedNames(project);
    differences = await schemaDifferences(project);
    newer = newerThan([22, 16], project);
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

// An editor that completes a name then knows what to import it from.
test("each public name is in one entry, except those that two pages share", () => {
  const entriesOf = Map.groupBy(exported, ({ name }) => name);
  const pages = new Set(["inbox", "console"]);
  const shared = [...entriesOf].filter(
    ([, found]) => found.length > 1 && !found.every(({ entry }) => pages.has(entry)),
  );
  expect(shared.map(([name, found]) => [name, ...found.map(({ entry }) => entry)])).toEqual([]);
});

test("every type that users can reach can be imported", () => {
  expect(unexported).toEqual([]);
});

test("each function and constant that an entry declares is there at run time, too", async () => {
  const missing: string[] = [];
  for (const [entry, path] of Object.entries(entries)) {
    const module: object = await import(resolve(root, path));
    const values = exported.filter((each) => each.entry === entry && each.isValue);
    missing.push(...values.flatMap(({ name }) => (name in module ? [] : [`${entry} ${name}`])));
  }
  expect(missing).toEqual([]);
});

// The tests run on a newer Node, where everything is there.
test("the product uses nothing that Node 22.16, the oldest supported version, lacks", () => {
  // Node 22.16 has these, too. Its documentation says so, but the declarations do not.
  const there = [
    "adapters/cli/database/sqlite.ts timeout",
    "adapters/storage/sqlite/connections/connection.ts location",
    "adapters/storage/sqlite/connections/connection.ts setReturnArrays",
    "adapters/storage/sqlite/transactions/host-groups.ts isTransaction",
  ];
  expect(newer).toEqual(there);
});
