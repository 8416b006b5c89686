/**
 * `node examples/cluster/main.ts [--seconds N]`: three processes on one PostgreSQL, behind one port. Clients send, processes are killed
 * at random, and what was promised is counted against what arrived. After N seconds, or Ctrl-C, the load and the killing stop,
 * and it ends with status 0 if all that was acknowledged has arrived, once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bold, dim } from "../quickstart/terminal.ts";
import { Books } from "./books.ts";
import { Carrier } from "./carrier.ts";
import { type Database, openDatabase } from "./database.ts";
import { prepare, type Settings } from "./engine.ts";
import { Load } from "./load.ts";
import { Processes } from "./processes.ts";
import { show } from "./show.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "3600" } } });
const seconds = Number(values.seconds);
if (!(seconds > 0 && seconds <= 3600)) {
  throw new RangeError("--seconds: expected a number up to 3600");
}

const lookEveryMs = 200;
/** Between one kill and the next. */
const [shortestLifeMs, longestLifeMs] = [500, 2_500];
/** What has not come to its end by then is lost. */
const healsWithinMs = 90_000;

/** No more is sent, and nobody is killed. */
const stop = new AbortController();
/** Nobody waits any longer. */
const over = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => stop.abort());
}
const fail = (error: unknown): void => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
  stop.abort();
  over.abort();
};

const books = new Books();
const carrier = new Carrier(books);
const database = await openDatabase();
const { url, schema } = database;
const settings: Settings = { url, schema, carrier: await carrier.listen(), began: Date.now() };
const processes = new Processes(settings, fail);
try {
  const key = await prepare(settings);
  await processes.start(Number(process.env["PORT"] ?? 0));
  carrier.engines = processes.url;
  console.log(
    `\n ${bold("tidings")}  three processes on PostgreSQL ${database.server}, killed at random\n ${dim(`${processes.url}/v1`)}\n`,
  );
  if (!(await run(database, new Load(processes.url, key, books)))) process.exitCode = 1;
} catch (error) {
  fail(error);
} finally {
  over.abort();
  await processes.stop();
  carrier.close();
  await database.close();
}

/** Answers whether all went as it should. */
async function run({ kept }: Database, load: Load): Promise<boolean> {
  const began = Date.now();
  const look = (): void =>
    show({
      ...books.counts(),
      seconds: (Date.now() - began) / 1_000,
      states: processes.states,
      kills: processes.kills,
      isHealing: stop.signal.aborted,
    });
  const looking = setInterval(look, lookEveryMs);
  const sending = load.run(stop.signal, over.signal).catch(fail);
  const ending = setTimeout(() => stop.abort(), seconds * 1_000);
  while (!stop.signal.aborted) {
    await sleep(shortestLifeMs + Math.random() * (longestLifeMs - shortestLifeMs), undefined, {
      signal: stop.signal,
    }).then(
      () => processes.kill(),
      () => {},
    );
  }
  clearTimeout(ending);

  const givingUp = setTimeout(() => over.abort(), healsWithinMs);
  await sending;
  let { messages, delivered } = await kept();
  while (!over.signal.aborted && delivered < messages) {
    await sleep(lookEveryMs);
    ({ messages, delivered } = await kept());
  }
  clearTimeout(givingUp);
  clearInterval(looking);
  look();

  const { sent, lost, doubled, ...arrived } = books.counts(Infinity);
  const isRight =
    lost === 0 && doubled === 0 && messages === sent && delivered === sent && !over.signal.aborted;
  const count = (n: number): string => n.toLocaleString("en");
  console.log(
    [
      "",
      ` ${bold(isRight ? "✓" : "✗")} ${count(sent)} sent, ${count(arrived.delivered)} delivered, ${count(lost)} lost, ` +
        `${count(doubled)} doubled, ${count(processes.kills)} kills`,
      dim(` The database has ${count(messages)} messages, ${count(delivered)} of them delivered.`),
      dim(
        ` ${count(load.again)} requests broke off and were sent again under their key; ${count(load.replayed)} of them had been done.`,
      ),
      dim(
        ` ${count(carrier.orphaned)} calls of the carrier lost their caller; ${count(carrier.lookups)} look-ups were made.`,
      ),
      "",
    ].join("\n"),
  );
  return isRight;
}
