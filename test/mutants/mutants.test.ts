import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { WorkingCopy } from "./copy.ts";
import { failedTests, simulatorFinds } from "./detect.ts";
import { mutants } from "./index.ts";
import { areaNames, planted } from "./mutant.ts";

test.each(mutants)("$name changes one place of the current code, and parses", (mutant) => {
  const text = readFileSync(mutant.file, "utf8");
  const changed = planted(mutant, text);
  expect(changed).not.toBe(text);
  expect(() => stripTypeScriptTypes(changed)).not.toThrow();
  expect(mutant.tests.filter((file) => !existsSync(file))).toEqual([]);
});

test("the mutants have different names and cover every area", () => {
  expect(mutants.length).toBeGreaterThanOrEqual(60);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  expect(new Set(mutants.map(({ area }) => area))).toEqual(new Set(areaNames));
});

/**
 * Bugs in modules that do not import each other. So they can be planted together, and one test run
 * checks them all: each bug must make its own test file fail.
 */
const quick = [
  "undelivered-outranks-delivered",
  "opt-in-to-one-sender-wins",
  "marketing-goes-first",
  "rate-limit-forgets-early",
  "signature-without-timestamp",
];
/** A bug that the simulator finds in its first seeds. */
const simulated = "sequence-repeats";

const named = (name: string) => mutants.filter((mutant) => mutant.name === name);

longTest("mutants are found by their tests", async () => {
  await using copy = await WorkingCopy.create();
  const chosen = quick.flatMap(named);
  for (const mutant of chosen) await copy.plant(mutant);
  const files = chosen.flatMap(({ tests }) => tests.slice(0, 1));
  const failed = await failedTests(copy.path, files, ["--maxWorkers=1"]);
  expect([...failed.keys()].toSorted()).toEqual(files.toSorted());
  expect(files).toHaveLength(quick.length);
});

longTest("a mutant is found by the simulator", async () => {
  await using copy = await WorkingCopy.create();
  const [mutant] = named(simulated);
  if (mutant === undefined) throw new Error(`there is no mutant ${simulated}`);
  await using _planted = await copy.plant(mutant);
  const found = await simulatorFinds(copy, { from: 1, count: 5, steps: 20 });
  expect(found?.by).toMatch("messages of a conversation get growing numbers");
});
