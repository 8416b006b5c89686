import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cases, longTest } from "../support/runs.ts";
import { laws } from "./invariant.ts";
import { coverageTable, neverMet, wronglyExcluded } from "./met-faults/table.ts";
import { nothingDone, runSeeds, Thread, type Progress } from "./run-seeds.ts";
import { loadProgress, progressFile, saveProgress, versionOf } from "./saved-progress.ts";
import { simulate, type Result } from "./simulate.ts";

const steps = 3;

const histories = new Map<number, Promise<Result>>();

/** Runs the seeds from 1 in this thread, and stops after some. */
function run(count: number, before: Progress = nothingDone, stopAfter = count): Promise<Progress> {
  const stop = new AbortController();
  let ran = 0;
  return runSeeds({
    first: 1,
    count,
    steps,
    jobs: 2,
    keep: true,
    before,
    signal: stop.signal,
    start: () => ({
      simulate({ seed }) {
        const history = histories.get(seed) ?? simulate(seed, steps);
        histories.set(seed, history);
        return history;
      },
      end: () => Promise.resolve(),
    }),
    onProgress: () => (++ran >= stopAfter ? stop.abort() : undefined),
  });
}

longTest(
  "a run that was stopped continues where it was, and ends as if it had not been stopped",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tidings-run-seeds-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = progressFile(versionOf({ steps }), folder);
    const stopped = await run(3, nothingDone, 1);
    const ran = stopped.done.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    expect(ran).toBeLessThan(3);
    saveProgress(file, stopped);
    const loaded = loadProgress(file);
    expect(loaded).toEqual(stopped);
    const whole = await run(3);
    expect(whole.done).toEqual([[1, 3]]);
    expect(await run(3, loaded)).toEqual(whole);
  },
);

const breaks: [what: string, code: string, why: string][] = [
  ["repeats something forever", "for (;;);", "did not end within 2 s"],
  ["fails", "throw new Error('no dice')", "no dice"],
];
test.each(cases(breaks, ([what]) => what === "fails"))(
  "a history that %s is a violation, and the others run",
  async (_, code, why) => {
    const breaksAt2 = `
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ seed }) => {
      if (seed === 2) { ${code} }
      parentPort.postMessage({ seed, messages: 1, calls: 1, coverage: {} });
    });`;
    const program = new URL(`data:text/javascript,${encodeURIComponent(breaksAt2)}`);
    const { done, messages, failed } = await runSeeds({
      first: 1,
      count: 3,
      steps,
      jobs: 1,
      keep: true,
      before: nothingDone,
      signal: new AbortController().signal,
      start: () => new Thread(program, () => 2_000),
      onProgress: () => undefined,
    });
    expect(done).toEqual([[1, 3]]);
    expect(messages).toBe(2);
    const failure = expect.stringContaining(why);
    expect(failed).toEqual([{ seed: 2, invariant: laws.historyEnds, failure }]);
  },
);

test("other settings have another file, and a damaged file is not continued", () => {
  const folder = mkdtempSync(join(tmpdir(), "tidings-run-seeds-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(versionOf({ steps })).toBe(versionOf({ steps }));
  expect(versionOf({ steps })).not.toBe(versionOf({ steps: 7 }));
  const file = progressFile("1", folder);
  writeFileSync(file, '{"done":[[1,');
  expect(loadProgress(file)).toBeUndefined();
});

test("the table says how often each fault met each call, and what was never met", () => {
  const counts = { "carrier|send|sendSlow": 12, "carrier|look-up|lookupFails": 1 };
  const table = coverageTable(counts);
  expect(table).toMatch(/^send +0 +0 +0 +0 +12 +0 +0 +0 +\. /m);
  expect(table).toMatch(/^look-up +\./m);
  const missing = neverMet(counts);
  expect(missing.find((line) => line.startsWith("carrier send:"))).not.toContain("sendSlow");
  expect(missing.find((line) => line.startsWith("carrier look-up:"))).toBe(
    "carrier look-up: lookupUnknown, lookupLags",
  );
  expect(missing.some((line) => line.startsWith("operation sandbox."))).toBe(false);
  expect(wronglyExcluded({ ...counts, "carrier|text|sendSlow": 1 })).toEqual([
    "carrier|text|sendSlow",
  ]);
});
