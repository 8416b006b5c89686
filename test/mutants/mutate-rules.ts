import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WorkingCopy } from "./copy.ts";
import { rulesFiles, type Equivalent, type RulesFile } from "./rules-files.ts";

/** Pinned: another version may change other places, and scores could not be compared. */
const strykerVersion = "10.1.1";

const help = `\`npm run mutate-rules\` lets Stryker ${strykerVersion} change the rules, one place
at a time, and prints the changes that no test notices. Stryker is installed in a temporary folder.

    --file F    changes only this file; can be repeated
    --help      prints this text

The files: ${rulesFiles.map(({ file }) => file).join(", ")}.`;

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: [] },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(help);
  process.exit(0);
}
for (const file of values.file) {
  if (rulesFiles.some((each) => each.file === file)) continue;
  console.error(`--file: expected one of ${rulesFiles.map((each) => each.file).join(", ")}`);
  process.exit(2);
}

const chosen = rulesFiles.filter(
  ({ file }) => values.file.length === 0 || values.file.includes(file),
);
const tools = await mkdtemp(join(tmpdir(), "tidings-stryker-"));
try {
  await installStryker();
  const scores: Score[] = [];
  for (const each of chosen) scores.push(await score(each));
  const all = sumOf(scores);
  for (const each of [...scores, all]) console.log(lineOf(each));
  process.exitCode = all.noticed + all.answered === all.changes ? 0 : 1;
} finally {
  await rm(tools, { recursive: true, force: true });
}

/** Installs Stryker without its peer dependencies: it must run the repository's own Vitest. */
async function installStryker(): Promise<void> {
  await writeFile(join(tools, "package.json"), '{ "private": true }');
  const packages = ["core", "vitest-runner"].map(
    (name) => `@stryker-mutator/${name}@${strykerVersion}`,
  );
  const options = ["--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  const code = await run("npm", ["install", ...options, ...packages], tools);
  if (code !== 0) throw new Error(`npm could not install Stryker (exit code ${code}).`);
  for (const name of ["vitest", "vite"]) {
    const own = await realpath(join("node_modules", name));
    await symlink(own, join(tools, "node_modules", name), "dir");
  }
}

interface Score {
  readonly file: string;
  readonly changes: number;
  readonly noticed: number;
  /** Changes that no test noticed, and that are listed as having no effect. */
  readonly answered: number;
}

interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

interface Change {
  readonly status: string;
  readonly replacement: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** The part of Stryker's report that this program reads. */
interface StrykerReport {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly Change[] }>
  >;
}

async function score({ file, tests, equivalents = [] }: RulesFile): Promise<Score> {
  await using copy = await WorkingCopy.create();
  const reportPath = join(copy.path, "stryker-report.json");
  await writeFile(join(copy.path, "stryker.vitest.config.ts"), vitestConfig(tests));
  await writeFile(
    join(copy.path, "stryker.config.json"),
    JSON.stringify({
      testRunner: "vitest",
      plugins: [join(tools, "node_modules/@stryker-mutator/vitest-runner/dist/src/index.js")],
      vitest: { configFile: "stryker.vitest.config.ts", related: false },
      mutate: [file],
      // Stryker already works in a copy, which may be changed.
      inPlace: true,
      concurrency: 1,
      coverageAnalysis: "perTest",
      reporters: ["clear-text", "json"],
      clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: false },
      jsonReporter: { fileName: reportPath },
    }),
  );
  const stryker = join(tools, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const code = await run(process.execPath, [stryker, "run", "--logLevel", "error"], copy.path);
  if (!existsSync(reportPath)) throw new Error(`Stryker failed for ${file} (exit code ${code}).`);
  const { files } = JSON.parse(await readFile(reportPath, "utf8")) as StrykerReport;
  const changes = Object.values(files).flatMap(({ source, mutants }) =>
    mutants.map((change) => ({ ...change, from: textAt(source, change) })),
  );
  const unnoticed = changes.filter(({ status }) => status !== "Killed" && status !== "Timeout");
  const answered = unnoticed.filter(({ from, replacement }) =>
    equivalents.some((each: Equivalent) => each.from === from && each.to === replacement),
  );
  return {
    file,
    changes: changes.length,
    noticed: changes.length - unnoticed.length,
    answered: answered.length,
  };
}

/** The code that a change replaces. */
function textAt(source: string, { location: { start, end } }: Change): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, i) =>
      line.slice(i === 0 ? start.column - 1 : 0, i === last ? end.column - 1 : undefined),
    )
    .join("\n");
}

/** A configuration that runs only these tests, in one worker that keeps its modules. */
function vitestConfig(tests: readonly string[]): string {
  const test = {
    include: tests,
    isolate: false,
    pool: "threads",
    provide: { share: 0.4 },
    testTimeout: 60_000,
  };
  return `export default ${JSON.stringify({ test })};\n`;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<number> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = (await once(child, "close")) as [number];
  return code;
}

function sumOf(scores: readonly Score[]): Score {
  const total = (of: (each: Score) => number): number =>
    scores.reduce((sum, each) => sum + of(each), 0);
  return {
    file: "mutate-rules",
    changes: total(({ changes }) => changes),
    noticed: total(({ noticed }) => noticed),
    answered: total(({ answered }) => answered),
  };
}

function lineOf({ file, changes, noticed, answered }: Score): string {
  const percent = changes === 0 ? 100 : (noticed / changes) * 100;
  const others = answered === 0 ? "" : `, ${answered} without effect`;
  return `${file}: ${changes} changes, ${noticed} noticed${others} (${percent.toFixed(1)} %)`;
}
