/**
 * `npm run simulate` runs the simulator: random histories of crashes, lost answers and races.
 * `--help` prints the options.
 */
import { parseArgs } from "node:util";
import { actors } from "./actors/index.ts";
import { invariants } from "./invariants/index.ts";
import { coverageTable, neverMet, wronglyExcluded } from "./met-faults/table.ts";
import { nothingDone, runSeeds, type Progress } from "./run-seeds.ts";
import {
  loadProgress,
  progressFile,
  removeProgress,
  saveProgress,
  versionOf,
} from "./saved-progress.ts";
import { defaultSteps } from "./simulate.ts";

const help = `npm run simulate -- [options]

  --seeds N    runs N seeds, from 1 or from --from (default 300)
  --from S     the first seed
  --seed S     runs one seed
  --steps K    ends each history after K steps (default ${defaultSteps}); use it to bisect a failure
  --jobs J     runs J seeds at once, each in a thread (default 1)
  --keep       continues after a violation
  --coverage   prints how often each fault happened, and to what
  --state DIR  the folder of the file that keeps the progress (default: the temporary folder)
  --fresh      starts from the beginning, even if an earlier run was stopped
  --list       prints the actors and the invariants

A run that was stopped, by Ctrl+C or by a kill, continues where it was when the same command starts
it again. If the code, the seeds or --steps have changed since, it starts from the beginning. The
file with the progress is removed when all seeds have run and none has failed. Ctrl+C prints the
coverage.`;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "300" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    steps: { type: "string", default: String(defaultSteps) },
    jobs: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
    coverage: { type: "boolean", default: false },
    state: { type: "string" },
    fresh: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(help);
  process.exit(0);
}
if (values.list) {
  for (const { does, group } of actors) console.log(`actor (${group}): ${does}`);
  for (const { name } of invariants) console.log(`invariant: ${name}`);
  process.exit(0);
}

/** How often the progress is saved and printed, in milliseconds. */
const saveEveryMs = 5_000;
const printEveryMs = 60_000;

const steps = whole("steps", values.steps);
const isOne = values.seed !== undefined;
const first = isOne ? whole("seed", values.seed ?? "") : whole("from", values.from);
const count = isOne ? 1 : whole("seeds", values.seeds);
const file = progressFile(versionOf({ steps, first, count }), values.state);
if (values.fresh) removeProgress(file);
const before = isOne ? undefined : loadProgress(file);
if (before !== undefined) {
  console.log(`Continues: ${number(sizeOf(before))} seeds have run before.`);
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
process.once("SIGTERM", () => stop.abort());
const startedAt = Date.now();
let savedAt = startedAt;
let printedAt = startedAt;
const progress = await runSeeds({
  first,
  count,
  steps,
  jobs: Math.max(1, whole("jobs", values.jobs)),
  keep: values.keep,
  before: before ?? nothingDone,
  signal: stop.signal,
  onProgress(now) {
    if (!isOne && Date.now() - savedAt >= saveEveryMs) {
      saveProgress(file, now);
      savedAt = Date.now();
    }
    if (Date.now() - printedAt >= printEveryMs) {
      const perMinute = (sizeOf(now) - sizeOf(before ?? nothingDone)) / (Date.now() - startedAt);
      console.log(
        `${number(sizeOf(now))} of ${number(count)} seeds, ` +
          `${Math.round(perMinute * 60_000)} a minute, ${now.failed.length} failed`,
      );
      printedAt = Date.now();
    }
  },
});
const isComplete = !stop.signal.aborted && (values.keep || progress.failed.length === 0);
if (isComplete && progress.failed.length === 0) removeProgress(file);
else if (!isOne) saveProgress(file, progress);
report(progress);

function report({ failed, coverage, messages, calls, ...rest }: Progress): void {
  if (values.coverage || stop.signal.aborted || count > 300) {
    console.log(`${coverageTable(coverage)}\n`);
    const never = neverMet(coverage);
    if (never.length > 0) console.log(`Never happened:\n${never.join("\n")}\n`);
    const wrong = wronglyExcluded(coverage);
    if (wrong.length > 0) console.log(`Happened, though it cannot:\n${wrong.join("\n")}\n`);
  }
  for (const [invariant, seeds] of Map.groupBy(failed, (each) => each.invariant)) {
    console.log(`${seeds[0]?.failure ?? ""}\n`);
    console.log(`"${invariant}" was violated by ${seeds.length} seeds:`);
    for (const { seed } of seeds.slice(0, 20)) {
      console.log(`  npm run simulate -- --seed ${seed} --steps ${steps}`);
    }
  }
  const ran = sizeOf({ failed, coverage, messages, calls, ...rest });
  const did = `${number(ran)} seeds, ${number(ran * steps)} steps, ${number(messages)} sends, ${number(calls)} carrier calls`;
  const violated = new Set(failed.map(({ invariant }) => invariant)).size;
  const outcome =
    violated === 0 ? `all ${invariants.length} invariants held` : `${violated} invariants violated`;
  const stopped = stop.signal.aborted ? "; stopped: the same command continues it" : "";
  console.log(`simulate: ${did}: ${outcome}${stopped}`);
  process.exitCode = violated === 0 ? 0 : 1;
}

function sizeOf({ done }: Progress): number {
  return done.reduce((sum, [from, to]) => sum + to - from + 1, 0);
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new Error(`--${name}: expected a whole number, got ${text}`);
  }
  return value;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
