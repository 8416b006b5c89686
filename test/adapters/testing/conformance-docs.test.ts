import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  modelConformance,
  mountConformance,
  storageConformance,
  transportConformance,
} from "../../../adapters/testing/index.ts";
import { checksOf } from "../../support/conformance-checks.ts";

const page = readFileSync("docs/conformance.md", "utf8");

/** Inside the project, so that imports resolve. Hidden, so that other tools skip it. */
const folder = resolve("test/adapters/testing/.samples");
afterAll(() => rm(folder, { recursive: true, force: true }));

// Each sample defines its suite among the tests of this file.
await mkdir(folder, { recursive: true });
for (const [i, [, code = ""]] of [...page.matchAll(/^```ts\n(.*?)^```$/gms)].entries()) {
  const file = join(folder, `sample-${i}.ts`);
  await writeFile(file, code);
  await import(file);
}

test("docs/conformance.md lists exactly the checks of the suites, in their order", () => {
  const create = () => Promise.reject(new Error("No check runs here."));
  const checks = checksOf((runner) => {
    storageConformance(runner, "a storage", create);
    transportConformance(runner, "a transport", { create });
    modelConformance(runner, "a model", { create });
    mountConformance(runner, "a mount", { serve: create });
  });
  const tables = [...page.matchAll(/^\| Check \|.*\n\|-.*\n((?:\|.*\n)+)/gm)];
  const rows = tables.map(([, text = ""]) => text).join("");
  const listed = [...rows.matchAll(/^\| (.*?) \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(checks.map(({ name }) => name));
});
