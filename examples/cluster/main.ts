/**
 * `node examples/cluster/main.ts [--seconds N]` runs three processes on one PostgreSQL database,
 * behind one port. Clients send orders while processes are killed at random. After N seconds or
 * Ctrl-C, the load and the kills stop. The program exits with status 0 if every acknowledged
 * order arrived exactly once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bold, dim } from "../quickstart/terminal.ts";
import { Carrier } from "./carrier.ts";
import { openDatabase, type Database, type StoredCounts } from "./database.ts";
import { DeliveryLedger } from "./delivery-ledger.ts";
import { display } from "./display.ts";
import { prepareAccount, type Settings } from "./engine.ts";
import { LoadGenerator } from "./load-generator.ts";
import { Processes } from "./processes.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "3600" } } });
const seconds = Number(values.seconds);
if (!(seconds > 0 && seconds <= 3600)) {
  throw new RangeError(
    `--seconds: expected a number above 0 and up to 3600, got ${values.seconds}`,
  );
}

const refreshMs = 200;
/** The time between two kills is random, in this range. */
const [minKillMs, maxKillMs] = [500, 2_500];
/** A message that is not delivered this long after the last kill is lost. */
const drainTimeoutMs = 90_000;

/** Aborts when the load and the kills end. */
const stop = new AbortController();
/** Aborts when the program no longer waits for deliveries. */
const abandon = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => stop.abort());
}
const fail = (error: unknown): void => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
  stop.abort();
  abandon.abort();
};

const ledger = new DeliveryLedger();
const carrier = new Carrier(ledger);
const database = await openDatabase();
const settings: Settings = {
  databaseUrl: database.url,
  schema: database.schema,
  carrier: await carrier.listen(),
  startedAt: Date.now(),
};
const processes = new Processes(settings, fail);
try {
  const apiKey = await prepareAccount(settings);
  await processes.start(Number(process.env["PORT"] ?? 0));
  carrier.enginesUrl = processes.url;
  console.log(
    `\n ${bold("tidings")}  three processes on PostgreSQL ${database.serverVersion}, killed at ` +
      `random\n ${dim(`${processes.url}/v1`)}\n`,
  );
  const load = new LoadGenerator(processes.url, apiKey, ledger);
  if (!(await run(database, load))) process.exitCode = 1;
} catch (error) {
  fail(error);
} finally {
  abandon.abort();
  await processes.stop();
  carrier.close();
  await database.close();
}

/** Returns whether every acknowledged order arrived exactly once. */
async function run(opened: Database, load: LoadGenerator): Promise<boolean> {
  const startedAt = Date.now();
  const refresh = (): void =>
    display({
      ...ledger.counts(),
      seconds: (Date.now() - startedAt) / 1_000,
      processes: processes.states,
      kills: processes.kills,
      isDraining: stop.signal.aborted,
    });
  const refreshTimer = setInterval(refresh, refreshMs);
  const sending = load.run(stop.signal, abandon.signal).catch(fail);
  await killAtRandom();
  const stored = await drain(opened, sending);
  clearInterval(refreshTimer);
  refresh();

  const { sent, delivered, duplicated } = ledger.counts();
  const isCorrect =
    delivered === sent &&
    duplicated === 0 &&
    stored.messages === sent &&
    stored.delivered === sent &&
    !abandon.signal.aborted;
  printTotals(isCorrect, stored, load);
  return isCorrect;
}

/** Kills processes until the load ends. */
async function killAtRandom(): Promise<void> {
  const stopTimer = setTimeout(() => stop.abort(), seconds * 1_000);
  const { signal } = stop;
  while (!signal.aborted) {
    const pauseMs = minKillMs + Math.random() * (maxKillMs - minKillMs);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) processes.kill();
  }
  clearTimeout(stopTimer);
}

/** Waits until the last requests are answered and all messages are delivered. */
async function drain({ countMessages }: Database, sending: Promise<void>): Promise<StoredCounts> {
  const abandonTimer = setTimeout(() => abandon.abort(), drainTimeoutMs);
  await sending;
  let stored = await countMessages();
  while (!abandon.signal.aborted && stored.delivered < stored.messages) {
    await sleep(refreshMs);
    stored = await countMessages();
  }
  clearTimeout(abandonTimer);
  return stored;
}

function printTotals(isCorrect: boolean, stored: StoredCounts, load: LoadGenerator): void {
  const { sent, delivered, duplicated } = ledger.counts();
  const count = (n: number): string => n.toLocaleString("en");
  console.log(
    [
      "",
      ` ${bold(isCorrect ? "✓" : "✗")} ${count(sent)} sent, ${count(delivered)} delivered, ` +
        `${count(sent - delivered)} lost, ` +
        `${count(duplicated)} duplicated, ${count(processes.kills)} kills`,
      dim(
        ` The database has ${count(stored.messages)} messages; ${count(stored.delivered)} of ` +
          "them are delivered.",
      ),
      dim(
        ` ${count(load.repeated)} requests failed and were repeated with their idempotency key; ` +
          `${count(load.replayed)} of them had already been carried out.`,
      ),
      dim(
        ` ${count(carrier.orphaned)} sends lost their process before the carrier responded; ` +
          `the engines made ${count(carrier.lookups)} look-ups.`,
      ),
      "",
    ].join("\n"),
  );
}
