import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WorkingCopy } from "./copy.ts";
import { type RulesFile, rulesFiles } from "./rules-files.ts";

/** Pinned: another version may change other places, and the score would not compare. */
const strykerVersion = "10.1.1";

const help = `\`npm run mutate-rules\` lets Stryker ${strykerVersion} change the rules, one place at a time, and prints
the changes that no test notices. It is installed into a temporary folder.

    --file F    only this file; can be repeated
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
  process.exitCode = all.noticed === all.changes ? 0 : 1;
} finally {
  await rm(tools, { recursive: true, force: true });
}

/** Installs Stryker without its peers: it must run the repository's own Vitest. */
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
}

/** The part of Stryker's report that is read here. */
interface StrykerReport {
  readonly files: Readonly<
    Record<string, { readonly mutants: readonly { readonly status: string }[] }>
  >;
}

async function score({ file, tests }: RulesFile): Promise<Score> {
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
      // The copy is already one that may be changed.
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
  const states = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const isNoticed = (status: string): boolean => status === "Killed" || status === "Timeout";
  return { file, changes: states.length, noticed: states.filter(isNoticed).length };
}

/** Only the tests of one file, in one worker that keeps its modules. */
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
  };
}

function lineOf({ file, changes, noticed }: Score): string {
  const share = changes === 0 ? 100 : (noticed / changes) * 100;
  return `${file}: ${changes} changes, ${noticed} noticed (${share.toFixed(1)} %)`;
}
