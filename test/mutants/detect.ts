import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { runNode } from "./child.ts";
import type { WorkingCopy } from "./copy.ts";
import type { SeedReport } from "./seeds.ts";

/** What found a bug, and after how long. */
export interface Finding {
  /** The test that failed, or the invariant that was violated. */
  readonly by: string;
  /** The simulator's seed. */
  readonly seed?: number;
  readonly ms: number;
}

/** A program that is silent for this many milliseconds waits forever, because of a bug. */
const silentMs = 300_000;

/** Runs test files until one test fails. Returns undefined if all pass. */
export async function testsFind(
  { path: cwd }: Pick<WorkingCopy, "path">,
  files: readonly string[],
): Promise<Finding | undefined> {
  const begun = performance.now();
  const failed = await failedTests(cwd, files, ["--bail", "1"]);
  const [by] = failed.values();
  return by === undefined ? undefined : { by, ms: performance.now() - begun };
}

/** The part of the test runner's report that this module reads. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs all that test files have. Returns the first failed test of each file that fails. */
export async function failedTests(
  cwd: string,
  files: readonly string[],
  options: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  // Tests may run several times at once in the same folder.
  const reportPath = join(cwd, `test-report-${randomUUID()}.json`);
  const vitest = "node_modules/vitest/vitest.mjs";
  // The verbose reporter prints a line after each test, and so shows that the run is not stuck.
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${reportPath}`];
  const { code, isStuck, output } = await runNode(
    [vitest, "run", "--mode=long", ...options, ...reporters, ...files],
    { cwd, silentMs },
  );
  if (isStuck) return new Map(files.map((file) => [file, "a test that waits forever"]));
  const text = await readFile(reportPath, "utf8").catch(() => undefined);
  await rm(reportPath, { force: true });
  if (text === undefined) throw new Error(`The tests did not run (exit code ${code}):\n${output}`);
  const { testResults } = JSON.parse(text) as TestReport;
  const failed = new Map(
    testResults
      .filter(({ status }) => status === "failed")
      .map(({ name, assertionResults }) => [
        name.slice(cwd.length + 1),
        assertionResults.find(({ status }) => status === "failed")?.fullName ?? "the file's import",
      ]),
  );
  if (code !== 0 && failed.size === 0) failed.set("", "an error outside of the tests");
  return failed;
}

/** Which histories are simulated. */
export interface Histories {
  readonly from: number;
  readonly count: number;
  readonly steps: number;
}

/** Simulates seeds until one violates an invariant. Returns undefined if none does. */
export async function simulatorFinds(
  { path: cwd }: Pick<WorkingCopy, "path">,
  { from, count, steps }: Histories,
): Promise<Finding | undefined> {
  const begun = performance.now();
  let ran = 0;
  let found: { readonly by: string; readonly seed: number } | undefined;
  const { code, isStuck, output } = await runNode(
    ["test/mutants/seeds.ts", ...[from, count, steps].map(String)],
    {
      cwd,
      silentMs,
      onLine(line) {
        if (!line.startsWith('{"seed"')) return false;
        const { seed, violation } = JSON.parse(line) as SeedReport;
        ran++;
        if (violation !== null) found = { by: violation, seed };
        return violation !== null;
      },
    },
  );
  const ms = performance.now() - begun;
  if (found !== undefined) return { ...found, ms };
  if (ran === count) return undefined;
  const seed = from + ran;
  if (isStuck) return { by: "the history does not end", seed, ms };
  if (ran === 0 && code !== null) {
    throw new Error(`The simulator did not run (exit code ${code}):\n${output}`);
  }
  return { by: "the process ends", seed, ms };
}
