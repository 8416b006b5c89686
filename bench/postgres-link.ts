import { fork } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { meet, type Recipients, send, withEngineOn } from "./engines.ts";
import { concurrently, type Contender, medians } from "./measure.ts";
import { poolSize, withDatabase } from "./postgres-databases.ts";
import { lay, prepareSingles, type Prepared, replayOn } from "./postgres-raw.ts";
import { count, ratio, table } from "./table.ts";

const rounds = 3;
const atOnce = 256;
const ours = 3_000;
const others = 300;

const engine = (recipients: Recipients): string => `tidings, ${recipients} recipients`;
const plain = (recipients: Recipients): string => `a statement a verb, ${recipients} recipients`;

/**
 * Across a link of 3 ms there and back: the engine, beside what the same commands would do without it, each in a transaction of its own
 * whose reads and writes are awaited one by one.
 */
export async function postgresLink(server: string): Promise<string> {
  const contenders: Contender[] = [];
  for (const recipients of ["existing", "new"] as const) {
    contenders.push(engineAcross(server, recipients), await plainAcross(server, recipients));
  }
  const trip = await withDatabase(server, (database) => withLink(database.url, roundTrip));
  const rates = await medians(contenders, rounds);
  console.log(
    `\nPostgreSQL: accepted a second across a link of ${trip.toFixed(1)} ms there and back, ${atOnce} at once, a pool of ${poolSize}\n`,
  );
  const of = (recipients: Recipients): number =>
    (rates.get(engine(recipients)) ?? 0) / (rates.get(plain(recipients)) ?? 1);
  const rows = (["existing", "new"] as const).flatMap((recipients) => [
    [engine(recipients), count(rates.get(engine(recipients)) ?? 0), ratio(of(recipients))],
    [plain(recipients), count(rates.get(plain(recipients)) ?? 0)],
  ]);
  console.log(table(["", "a second", "of a statement a verb"], rows));
  return `${ratio(of("existing"))} / ${ratio(of("new"))} of a statement a verb across a slow link`;
}

function engineAcross(server: string, recipients: Recipients): Contender {
  return {
    name: engine(recipients),
    run: () =>
      across(server, (pool) =>
        withEngineOn(postgres({ pool }), async (each) => {
          await meet(each);
          return {
            items: ours,
            ms: await concurrently(ours, atOnce, (i) => send(each, recipients, i)),
          };
        }),
      ),
  };
}

async function plainAcross(server: string, recipients: Recipients): Promise<Contender> {
  const prepared: Prepared = await prepareSingles(recipients, others, true);
  return {
    name: plain(recipients),
    run: () =>
      withDatabase(server, async (database) => {
        await lay(database, prepared);
        return withLink(database.url, (pool) => replayOn(pool, prepared, atOnce));
      }),
  };
}

function across<T>(server: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  return withDatabase(server, (database) => withLink(database.url, use));
}

/** The link is a process of its own, so that whoever is measured doesn't pay for it. */
async function withLink<T>(url: string, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const child = fork(new URL("./postgres-slow-link.ts", import.meta.url), [url]);
  const [across] = (await once(child, "message")) as [string];
  const pool = new pg.Pool({ connectionString: across, max: poolSize });
  try {
    return await use(pool);
  } finally {
    await pool.end();
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }
}

/** The median of what a statement takes that does nothing, in milliseconds. */
async function roundTrip(pool: pg.Pool): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 101; i++) {
    const began = performance.now();
    await pool.query("SELECT 1");
    times.push(performance.now() - began);
  }
  return times.toSorted((a, b) => a - b)[50] ?? 0;
}
