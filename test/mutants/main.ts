import { parseArgs } from "node:util";
import { compileErrors } from "./compile.ts";
import { WorkingCopy } from "./copy.ts";
import { simulatorFinds, testsFind, type Finding, type Histories } from "./detect.ts";
import { mutants } from "./index.ts";
import { areaNames, type Mutant } from "./mutant.ts";

const help = `\`npm run mutants\` plants bugs in copies of the repository and says what finds them.

    --only NAME        plants one bug; can be repeated
    --area A           plants the bugs of one area; can be repeated
    --seeds N          simulates at most N seeds for each bug (default 200)
    --from S           the first seed (default 1)
    --steps K          the steps of each history (default 150)
    --tests-only       runs only the tests
    --simulator-only   runs only the simulator
    --jobs N           plants N bugs at a time, each in its own copy (default 1)
    --compile          checks only that the bugs compile
    --list             prints the bugs
    --help             prints this text

The areas: ${areaNames.join(", ")}.`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    area: { type: "string", multiple: true, default: [] },
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    steps: { type: "string", default: "150" },
    "tests-only": { type: "boolean", default: false },
    "simulator-only": { type: "boolean", default: false },
    jobs: { type: "string", default: "1" },
    compile: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(help);
  process.exit(0);
}

const names = new Set(mutants.map(({ name }) => name));
for (const name of values.only) {
  if (!names.has(name)) fail(`--only: there is no mutant ${name}; --list prints all`);
}
for (const area of values.area) {
  if (!areaNames.some((each) => each === area)) {
    fail(`--area: expected one of ${areaNames.join(", ")}, got ${area}`);
  }
}
if (values["tests-only"] && values["simulator-only"]) {
  fail("--tests-only and --simulator-only leave nothing to run; omit one");
}
const chosen = mutants.filter(
  ({ name, area }) =>
    (values.only.length === 0 || values.only.includes(name)) &&
    (values.area.length === 0 || values.area.includes(area)),
);
const histories: Histories = {
  from: whole("from", values.from),
  count: whole("seeds", values.seeds),
  steps: whole("steps", values.steps),
};
const jobs = whole("jobs", values.jobs);

if (values.list) {
  for (const { name, area, file, sentence } of chosen) {
    console.log(`${name} (${area}, ${file})\n    ${sentence}`);
  }
  process.exit(0);
}
if (values.compile) {
  const errors = await compileErrors(chosen);
  for (const error of errors) console.log(error);
  console.log(`mutants: ${chosen.length} planted, ${errors.length} do not compile`);
  process.exit(errors.length === 0 ? 0 : 1);
}

interface Row {
  readonly mutant: Mutant;
  readonly byTests: Finding | undefined;
  readonly bySimulator: Finding | undefined;
}

/** What the same tests or seed find in unchanged code. Such a finding is not due to the mutant. */
const unchanged = new Map<string, Promise<Finding | undefined>>();

// A child ends with this process, see `runNode`.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const rows: Row[] = [];
const waiting = [...chosen];
await using original = await WorkingCopy.create();
await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));

const count = (wanted: (row: Row) => boolean): number => rows.filter(wanted).length;
const byTests = count((row) => row.byTests !== undefined);
const bySimulator = count((row) => row.bySimulator !== undefined);
const nobody = count((row) => row.byTests === undefined && row.bySimulator === undefined);
console.log(
  `mutants: ${rows.length} planted, ${byTests} found by tests, ${bySimulator} by the simulator, ` +
    `${nobody} by nobody`,
);
process.exitCode = nobody === 0 ? 0 : 1;

/** Plants one bug after another, in a copy of its own. */
async function work(): Promise<void> {
  await using copy = await WorkingCopy.create();
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const row = await check(copy, mutant);
    rows.push(row);
    console.log(lineOf(row));
  }
}

async function check(copy: WorkingCopy, mutant: Mutant): Promise<Row> {
  await using _planted = await copy.plant(mutant);
  const byTests = values["simulator-only"] ? undefined : await testsFind(copy, mutant.tests);
  if (byTests !== undefined) {
    const key = mutant.tests.join(" ");
    await refuteUnchanged(mutant, key, () => testsFind(original, mutant.tests));
  }
  const bySimulator = values["tests-only"] ? undefined : await simulatorFinds(copy, histories);
  if (bySimulator?.seed !== undefined) {
    const only: Histories = { ...histories, from: bySimulator.seed, count: 1 };
    await refuteUnchanged(mutant, `seed ${only.from}`, () => simulatorFinds(original, only));
  }
  return { mutant, byTests, bySimulator };
}

/** @throws Error if unchanged code fails too */
async function refuteUnchanged(
  { name }: Mutant,
  key: string,
  run: () => Promise<Finding | undefined>,
): Promise<void> {
  let running = unchanged.get(key);
  if (running === undefined) unchanged.set(key, (running = run()));
  const finding = await running;
  if (finding === undefined) return;
  throw new Error(`${name}: unchanged code fails too, with ${key}: ${finding.by}`);
}

function lineOf({ mutant: { name, area }, byTests, bySimulator }: Row): string {
  const tests = values["simulator-only"] ? "not run" : said(byTests);
  const simulator = values["tests-only"] ? "not run" : said(bySimulator);
  return `${name} (${area})\n    tests      ${tests}\n    simulator  ${simulator}`;
}

function said(finding: Finding | undefined): string {
  if (finding === undefined) return "did not find it";
  const { by, seed, ms } = finding;
  const where = seed === undefined ? "" : `seed ${seed}, `;
  return `${where}${(ms / 1_000).toFixed(1)} s: ${by}`;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) {
    fail(`--${name}: expected a whole number, got ${text}`);
  }
  return value;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
