import { DatabaseSync } from "node:sqlite";
import { text as readText } from "node:stream/consumers";
import { nodeHandler } from "../adapters/http/node.ts";
import { memory } from "../adapters/storage/memory/index.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../src/ports/storage.ts";
import { startPostgres } from "../test/support/postgres/server.ts";
import { instantCarrier, recipient, text, withEngineOn, withTempFile } from "./support/engines.ts";
import { listen } from "./support/listen.ts";
import { median, ratio, scaled, table } from "./support/measure.ts";
import { poolSize, withDatabase } from "./support/postgres-databases.ts";

const requests = scaled(200);
const warmUp = scaled(200);

/** Times of one storage, in milliseconds. */
interface Times {
  /** From the request to the carrier's call. */
  readonly send: number;
  /** The same request to a bare handler of `node:http`, until it has parsed the body. */
  readonly bare: number;
  /** A transaction that inserts one row. Memory has none. */
  readonly commit: number;
}

/**
 * The time from a POST of a message to the carrier's call, in an engine with nothing else to do,
 * that of the same request to a bare handler, and that of one bare commit on the same storage. They
 * take turns.
 */
export async function idle(): Promise<string> {
  await using server = await startPostgres();
  const rows: [string, Times][] = [
    ["memory", await measure(memory(), () => Promise.resolve())],
    ["SQLite", await withTempFile(onSqlite)],
    [
      "PostgreSQL",
      await withDatabase(server.url, async (database) => {
        const pool = database.pool({ max: poolSize });
        await pool.query("CREATE TABLE bare (text text)");
        return measure(postgres({ pool }), () =>
          pool.query("INSERT INTO bare VALUES ($1)", [text]),
        );
      }),
    ],
  ];
  console.log(
    `\nAn idle engine: milliseconds from POST /v1/messages to the carrier's call, to new ` +
      `recipients (median of ${requests})\n`,
  );
  const inCommits = ({ send, commit }: Times): string => ratio(send / commit);
  console.log(
    table(
      ["storage", "to the carrier's call", "to a bare handler", "one bare commit", "in commits"],
      rows.map(([name, times]) => [
        name,
        times.send.toFixed(2),
        times.bare.toFixed(2),
        name === "memory" ? "" : times.commit.toFixed(2),
        name === "memory" ? "" : inCommits(times),
      ]),
    ),
  );
  const [, sqliteTimes, postgresTimes] = rows.map(([, times]) => inCommits(times));
  return `idle: the carrier is called after ${sqliteTimes} commits of SQLite, ${postgresTimes} of PostgreSQL`;
}

function onSqlite(file: string): Promise<Times> {
  const db = new DatabaseSync(`${file}.bare`);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE bare (text TEXT)");
  const insert = db.prepare("INSERT INTO bare VALUES (?)");
  return measure(sqlite({ file }), () => Promise.resolve(insert.run(text))).finally(() =>
    db.close(),
  );
}

function measure(storage: StoragePort, commit: () => Promise<unknown>): Promise<Times> {
  const carrier = instantCarrier();
  let called = (_at: number): void => {};
  const transport: typeof carrier = {
    ...carrier,
    send(message, attempt) {
      called(performance.now());
      return carrier.send(message, attempt);
    },
  };
  return withEngineOn(
    storage,
    async (engine) => {
      const plan = { name: "benchmark", requests_per_second: 100_000 };
      const { key } = await engine.accounts.create({ name: "Bench", plan });
      await engine.start();
      const api = await listen(nodeHandler(engine));
      let parsed = (_at: number): void => {};
      const bare = await listen((request, response) => {
        void readText(request).then((body) => {
          JSON.parse(body);
          parsed(performance.now());
          response.end();
        });
      });
      const headers = {
        authorization: `Bearer ${key.secret}`,
        "content-type": "application/json",
      };
      const post = async (url: string, body: string): Promise<string> => {
        const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
        if (!response.ok) throw new Error(`the POST was answered with ${response.status}`);
        return response.text();
      };
      const times = { send: [] as number[], bare: [] as number[], commit: [] as number[] };
      for (let i = 0; i < warmUp + requests; i++) {
        const body = JSON.stringify({ to: recipient("new", i), body: text });
        const [send, bareTime, committed] = [
          await since(async () => {
            const handedOver = new Promise<number>((resolve) => (called = resolve));
            const posted = post(api.url, body);
            const at = await Promise.race([handedOver, posted.then(() => handedOver)]);
            return { at, rest: posted };
          }),
          await since(async () => {
            const arrived = new Promise<number>((resolve) => (parsed = resolve));
            const posted = post(bare.url, body);
            return { at: await arrived, rest: posted };
          }),
          await since(async () => {
            await commit();
            return { at: performance.now(), rest: Promise.resolve() };
          }),
        ];
        if (i < warmUp) continue;
        times.send.push(send);
        times.bare.push(bareTime);
        times.commit.push(committed);
      }
      await Promise.all([api.close(), bare.close()]);
      return {
        send: median(times.send),
        bare: median(times.bare),
        commit: median(times.commit),
      };
    },
    { transports: [transport] },
  );
}

/** Returns the milliseconds until `work` says that the measured part was over. */
async function since(
  work: () => Promise<{ readonly at: number; readonly rest: Promise<unknown> }>,
): Promise<number> {
  const began = performance.now();
  const { at, rest } = await work();
  await rest;
  // Usually the engine has recorded the carrier's answer by then, and is idle again.
  await new Promise((resolve) => setTimeout(resolve, 5));
  return at - began;
}
