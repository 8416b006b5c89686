/**
 * Databases with the engine's schema that one test after the other uses. Creating and removing one
 * for each test would take longer than most tests, since both flush the whole server.
 */
import type pg from "pg";
import { getOrInsert } from "../../../src/kernel/cache.ts";
import { makeDatabase, type Database } from "../postgres/temporary-database.ts";
import { migrated, serverUrl } from "../postgres/test-database.ts";

export interface ReusedDatabase extends AsyncDisposable {
  readonly url: string;
  /** A pool of up to 5 connections, for one storage. */
  pool(): pg.Pool;
}

/** More rows are not deleted, since what they leave would slow down later tests. */
const maxDeletedRows = 2_000;

interface Kept {
  readonly database: Database;
  readonly pools: pg.Pool[];
  /** Deletes all rows, and returns how many relations there are. */
  readonly clean: string;
  readonly relations: number;
}

const free = new Map<string, Kept[]>();
let created = 0;

/**
 * A database without rows. `ownTable` is the statement that creates the host application's table.
 * Disposing of the database leaves it to the next test.
 */
export async function reusedDatabase(ownTable = ""): Promise<ReusedDatabase> {
  const unused = getOrInsert(free, ownTable, () => []);
  const kept = unused.pop() ?? (await create(ownTable));
  let taken = 0;
  return {
    url: kept.database.url,
    pool() {
      const pool = kept.pools[taken] ?? kept.database.pool({ allowExitOnIdle: true });
      kept.pools[taken++] = pool;
      return pool;
    },
    async [Symbol.asyncDispose]() {
      if (await isClean(kept)) unused.push(kept);
      else await kept.database[Symbol.asyncDispose]();
    },
  };
}

async function create(ownTable: string): Promise<Kept> {
  const template = await migrated();
  // The run's end removes databases that are named after the template.
  const name = `${template}_${process.pid}_${++created}`;
  const database = await makeDatabase(await serverUrl(), template, name);
  const pool = database.pool({ allowExitOnIdle: true });
  await pool.query(ownTable);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
     AND tablename <> 'tidings_schema'`,
  );
  const deletions = rows.map(({ name }) => `DELETE FROM ${name}`);
  const clean = [...deletions, "SELECT count(*)::int AS relations FROM pg_class"].join("; ");
  return { database, pools: [pool], clean, relations: (await cleaned(pool, clean)).relations };
}

/**
 * Deletes the rows of a test. Returns false if something else of it is left: a connection in use,
 * a table, or the space of many rows.
 */
async function isClean({ pools, clean, relations }: Kept): Promise<boolean> {
  const isIdle = pools.every(
    ({ ended, totalCount, idleCount, waitingCount }) =>
      !ended && totalCount === idleCount && waitingCount === 0,
  );
  const [pool] = pools;
  if (pool === undefined || !isIdle) return false;
  const left = await cleaned(pool, clean);
  return left.relations === relations && left.deleted <= maxDeletedRows;
}

async function cleaned(
  pool: pg.Pool,
  clean: string,
): Promise<{ readonly deleted: number; readonly relations: number }> {
  // The statements of one query are one transaction, and each has its own result.
  const results = (await pool.query(clean)) as unknown as pg.QueryResult<{ relations: number }>[];
  const deleted = results.slice(0, -1).reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
  return { deleted, relations: results.at(-1)?.rows[0]?.relations ?? 0 };
}
