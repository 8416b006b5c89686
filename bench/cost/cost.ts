/**
 * The cost sheet: what each step of a message's life costs. Counts are exact; the CPU time is that
 * of the process on the memory storage, the median of a few rounds.
 */
import pg from "pg";
import { memory } from "../../adapters/storage/memory/index.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { startPostgres } from "../../test/support/postgres/server.ts";
import { median, scaled, table } from "../support/measure.ts";
import { poolSize, withDatabase } from "../support/postgres-databases.ts";
import { countCalls, counted, countPromises, Counts } from "./counters.ts";
import { agentSteps, eventSteps, messageSteps, type Measure } from "./steps.ts";

/** `concurrency` is at most 1,000, and each item needs two slots. */
const items = Math.min(scaled(500), 500);
const rounds = 5;

/** Calls `use` with an empty storage. */
type Open = (use: (port: StoragePort) => Promise<void>) => Promise<void>;

const inMemory: Open = (use) => use(memory());

interface Meter {
  /** The storage that the engine uses. Without it, no call of the storage costs time to count. */
  readonly storage?: (port: StoragePort) => StoragePort;
  readonly measure: (work: () => Promise<void>) => Promise<void>;
}

/** Costs of one item by name, by step. */
type Sheet = Map<string, Map<string, number>>;

export async function cost(): Promise<string> {
  const counts = await sheet(inMemory, (all) => ({
    storage: (port) => counted(port, all),
    measure: (work) => countCalls(all, () => countPromises(all, work)),
  }));
  const cpu = await cpuTimes();
  const onPostgres = await postgresSheet();
  const columns = [
    "transactions",
    "commits",
    "rows written",
    "held rows",
    "index entries",
    "reads",
  ];
  const head = ["step", ...columns, "promises", "statements", "log bytes", "CPU µs"];
  const lines = [...counts].map(([step, costs]) => [
    step,
    ...[...columns, "promises"].map((name) => show(costs.get(name))),
    show(onPostgres.get(step)?.get("statements")),
    show(onPostgres.get(step)?.get("log bytes"), 0),
    show(cpu.get(step), 0),
  ]);
  console.log(`\nThe cost of each step, per item (${items} items, 64 at a time)\n`);
  console.log(table(head, lines));
  console.log("\n  Counted on memory; statements and log bytes are those of PostgreSQL.");
  console.log("\nRows written by table, per item\n");
  for (const [step, costs] of counts) {
    const rows = [...costs].flatMap(([name, n]) =>
      name.startsWith("row ") && Math.abs(n) >= 0.01 ? [`${name.slice(4)} ${show(n)}`] : [],
    );
    console.log(`  ${step}: ${rows.join(", ")}`);
  }
  const total = messageStepNames.reduce((sum, name) => sum + (cpu.get(`new: ${name}`) ?? 0), 0);
  return `cost: ${show(total, 0)} µs of CPU on memory from acceptance to the carrier's answer`;
}

const messageStepNames = ["accept", "lease and hand over", "record the answer"] as const;
const show = (n = 0, digits = 2): string => n.toFixed(digits).replace(/\.00$/, "");

/** Runs all steps, and returns what the meter counted in each. */
async function sheet(open: Open, meterOf: (counts: Counts) => Meter): Promise<Sheet> {
  const costs: Sheet = new Map();
  const run = async (
    prefix: string,
    steps: (port: StoragePort, measure: Measure) => Promise<void>,
  ) => {
    // The engine's work between the steps is not counted.
    const counts = new Counts();
    const { storage = (port) => port, measure } = meterOf(counts);
    await open((port) =>
      steps(storage(port), async (step, times, work) => {
        counts.sums.clear();
        await measure(work);
        const each = [...counts.sums].map(([name, sum]) => [name, sum / times] as const);
        costs.set(prefix + step, new Map(each));
      }),
    );
  };
  for (const who of ["existing", "new"] as const) {
    await run(`${who}: `, (port, measure) => messageSteps(port, who, items, measure));
  }
  await run("", (port, measure) => eventSteps(port, items, measure));
  subtract(costs, "event to a webhook", "contact with a webhook", "contact");
  await run("", (port, measure) => agentSteps(port, items, measure));
  subtract(costs, "agent's turn, until its reply is sent", "inbound with an agent", "inbound");
  return costs;
}

/** Replaces two steps by what the first costs more than the second. */
function subtract(costs: Sheet, name: string, all: string, base: string): void {
  const [more, less] = [costs.get(all), costs.get(base)];
  costs.delete(all);
  costs.delete(base);
  const names = new Set([...(more?.keys() ?? []), ...(less?.keys() ?? [])]);
  const difference = [...names].map((each) => {
    return [each, (more?.get(each) ?? 0) - (less?.get(each) ?? 0)] as const;
  });
  costs.set(name, new Map(difference));
}

async function cpuTimes(): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    const costs = await sheet(inMemory, (counts) => ({
      measure: async (work) => {
        const before = process.cpuUsage();
        await work();
        const { user, system } = process.cpuUsage(before);
        counts.add("CPU µs", user + system);
      },
    }));
    for (const [step, each] of costs) {
      times.set(step, [...(times.get(step) ?? []), each.get("CPU µs") ?? 0]);
    }
  }
  return new Map([...times].map(([step, each]) => [step, median(each)]));
}

async function postgresSheet(): Promise<Sheet> {
  await using server = await startPostgres();
  await using admin = new AdminConnection(server.url);
  const open: Open = (use) =>
    withDatabase(server.url, ({ pool }) => use(postgres({ pool: pool({ max: poolSize }) })));
  return await sheet(open, (counts) => ({
    measure: async (work) => {
      const before = await admin.logPosition();
      await countCalls(counts, work);
      counts.add("log bytes", (await admin.logPosition()) - before);
    },
  }));
}

/** A connection that reads the position of the write-ahead log. */
class AdminConnection implements AsyncDisposable {
  readonly #pool: pg.Pool;
  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 1 });
  }
  async logPosition(): Promise<number> {
    const sql = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS at";
    const { rows } = await this.#pool.query<{ readonly at: string }>(sql);
    return Number(rows[0]?.at);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}
