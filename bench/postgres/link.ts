import { fork } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { createContacts, send, withEngineOn, type Recipients } from "../support/engines.ts";
import {
  concurrently,
  count,
  medians,
  ratio,
  scaled,
  table,
  type Contender,
} from "../support/measure.ts";
import { poolSize, withDatabase } from "../support/postgres-databases.ts";
import { createTables, prepareSingles, replayOn, type Prepared } from "./replay.ts";

const rounds = 3;
const atOnce = 256;
const engineItems = scaled(3_000);
const plainItems = scaled(300);

const engine = (recipients: Recipients): string => `tidings, ${recipients} recipients`;
const plain = (recipients: Recipients): string => `single statements, ${recipients} recipients`;

/**
 * Sends over a connection with 3 ms of round-trip time: by the engine, and by single statements
 * that do the same reads and writes, in one transaction per send.
 */
export async function postgresLink(server: string): Promise<string> {
  const contenders: Contender[] = [];
  for (const recipients of ["existing", "new"] as const) {
    contenders.push(engineAcross(server, recipients), await plainAcross(server, recipients));
  }
  const trip = await withDatabase(server, (database) => withLink(database.url, roundTrip));
  const rates = await medians(contenders, rounds);
  console.log(
    "\nPostgreSQL: accepted messages per second over a connection with a round trip of " +
      `${trip.toFixed(1)} ms` +
      ` (${atOnce} at a time, a pool of ${poolSize}, median of ${rounds} rounds)\n`,
  );
  const of = (recipients: Recipients): number =>
    (rates.get(engine(recipients)) ?? 0) / (rates.get(plain(recipients)) ?? 1);
  const rows = (["existing", "new"] as const).flatMap((recipients) => [
    [engine(recipients), count(rates.get(engine(recipients)) ?? 0), ratio(of(recipients))],
    [plain(recipients), count(rates.get(plain(recipients)) ?? 0)],
  ]);
  console.log(table(["", "per second", "ratio to single statements"], rows));
  return (
    `over a slow connection ${ratio(of("existing"))} / ${ratio(of("new"))} of single ` +
    "statements (existing / new recipients)"
  );
}

function engineAcross(server: string, recipients: Recipients): Contender {
  return {
    name: engine(recipients),
    run: () =>
      across(server, (pool) =>
        withEngineOn(postgres({ pool }), async (each) => {
          await createContacts(each);
          return {
            items: engineItems,
            ms: await concurrently(engineItems, atOnce, (i) => send(each, recipients, i)),
          };
        }),
      ),
  };
}

async function plainAcross(server: string, recipients: Recipients): Promise<Contender> {
  const prepared: Prepared = await prepareSingles(recipients, plainItems, true);
  return {
    name: plain(recipients),
    run: () =>
      withDatabase(server, async (database) => {
        await createTables(database, prepared);
        return withLink(database.url, (pool) => replayOn(pool, prepared, atOnce));
      }),
  };
}

function across<T>(server: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  return withDatabase(server, (database) => withLink(database.url, use));
}

/**
 * The slow connection is a proxy in its own process, so that it takes no CPU from the contenders.
 */
async function withLink<T>(url: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const child = fork(new URL("./slow-link-process.ts", import.meta.url), [url]);
  const [proxyUrl] = (await once(child, "message")) as [string];
  const pool = new pg.Pool({ connectionString: proxyUrl, max: poolSize });
  try {
    return await use(pool);
  } finally {
    await pool.end();
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }
}

/** The median time of a statement that does nothing, in milliseconds. */
async function roundTrip(pool: pg.Pool): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 101; i++) {
    const began = performance.now();
    await pool.query("SELECT 1");
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[50] ?? 0;
}
