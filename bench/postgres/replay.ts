/**
 * What PostgreSQL itself can do with the rows of a send. The engine's reads and writes are
 * recorded, and repeated by prepared statements on a database with the same tables. The statements
 * check nothing: no version guards, no locks, no order between processes.
 */
import type pg from "pg";
import { layoutOf } from "../../adapters/storage/layout.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlTypes } from "../../adapters/storage/postgres/tables/values.ts";
import { schema } from "../../src/modules.ts";
import { columnsOf, type Collection } from "../../src/ports/collection.ts";
import type { Lookup, Row, Write } from "../../src/ports/storage.ts";
import type { Database } from "../../test/support/postgres/temporary-database.ts";
import type { Recipients } from "../support/engines.ts";
import { concurrently, type Work } from "../support/measure.ts";
import { poolSize, withDatabase } from "../support/postgres-databases.ts";
import { record, type Recorded } from "../support/recording.ts";

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The transactions that set up the contacts, and those of `items` sends, which are measured. */
export interface Prepared {
  readonly before: readonly (readonly Statement[])[];
  readonly sends: readonly (readonly Statement[])[];
  readonly items: number;
}

/** One transaction per send and one statement per row, optionally with the send's reads. */
export async function prepareSingles(
  recipients: Recipients,
  items: number,
  withReads = false,
): Promise<Prepared> {
  const { before, work } = await record(memory(), {
    recipients,
    items,
    atOnce: 1,
    until: "accepted",
  });
  const single = ({ reads, writes }: Recorded): Statement[] => [
    ...(withReads ? reads.map(readStatement) : []),
    ...parts(writes).flatMap((part) => part.map((write) => writeStatement([write]))),
  ];
  return { before: before.map(bulkOf), sends: work.map(single), items };
}

/**
 * One transaction per commit of the engine, of up to 128 sends; one statement per table and kind.
 */
export async function prepareGroups(recipients: Recipients, items: number): Promise<Prepared> {
  const { before, work } = await record(memory(), {
    recipients,
    items,
    atOnce: 256,
    until: "accepted",
  });
  return { before: before.map(bulkOf), sends: work.map(bulkOf), items };
}

export function replaySingles(server: string, prepared: Prepared, atOnce: number): Promise<Work> {
  return withDatabase(server, async (database) => {
    await createTables(database, prepared);
    return replayOn(database.pool({ max: poolSize }), prepared, atOnce);
  });
}

export function replayGroups(server: string, prepared: Prepared): Promise<Work> {
  return withDatabase(server, async (database) => {
    await createTables(database, prepared);
    return replayOn(database.pool({ max: 1 }), prepared, 1);
  });
}

/** Creates the engine's tables and the contacts. */
export async function createTables(database: Database, { before }: Prepared): Promise<void> {
  const pool = database.pool({ max: 1 });
  await postgres({ pool }).migrate(schema);
  for (const statements of before) await transaction(pool, statements);
  await pool.query("ANALYZE");
}

export async function replayOn(
  pool: pg.Pool,
  { sends, items }: Prepared,
  atOnce: number,
): Promise<Work> {
  // The first fifth opens the connections and prepares the statements.
  const [warmUp, measured] = [sends.slice(0, sends.length / 5), sends.slice(sends.length / 5)];
  await concurrently(warmUp.length, atOnce, (i) => transaction(pool, warmUp[i] ?? []));
  const ms = await concurrently(measured.length, atOnce, (i) =>
    transaction(pool, measured[i] ?? []),
  );
  return { items: (items * measured.length) / sends.length, ms };
}

const names = new Map<string, string>();

async function transaction(pool: pg.Pool, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    for (const { text, values } of statements) {
      let name = names.get(text);
      if (name === undefined) names.set(text, (name = `raw_${names.size}`));
      await client.query({ name, text, values: [...values] });
    }
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

function bulkOf({ writes }: Recorded): Statement[] {
  return parts(writes).map(writeStatement);
}

type RowWrite = Extract<Write, { readonly row: Row }>;

/** Groups writes by kind and table. Counters come last, since their rows are contended. */
function parts(writes: readonly Write[]): RowWrite[][] {
  const rows = writes.filter((write) => "row" in write);
  const by = Map.groupBy(rows, ({ kind, collection }) => `${kind} ${collection.name}`);
  return [...by.values()].toSorted(
    ([a], [b]) => Number(a?.kind === "add") - Number(b?.kind === "add"),
  );
}

const quoted = (columns: readonly string[]): string =>
  columns.map((name) => `"${name}"`).join(", ");
const tableOf = ({ name }: Collection): string => `"tidings_${name}"`;

function readStatement({ index, key, limit }: Lookup): Statement {
  const conditions = key.map((_, i) => `"${index.columns[i]}" = $${i + 1}`).join(" AND ");
  return {
    text: `SELECT * FROM ${tableOf(index.collection)} WHERE ${conditions} LIMIT ${limit}`,
    values: key,
  };
}

/** Writes of one kind to one table. Several rows are passed as one array per column. */
function writeStatement(writes: readonly RowWrite[]): Statement {
  const [first] = writes;
  if (first === undefined) throw new RangeError("no writes");
  const { collection } = first;
  const rows = writes.map(({ row }) => row);
  return first.kind === "update"
    ? updateStatement(collection, rows, [
        ...new Set(writes.flatMap((write) => ("changed" in write ? write.changed : []))),
      ])
    : insertStatement(collection, rows, first.kind === "add");
}

function insertStatement(collection: Collection, rows: readonly Row[], adds: boolean): Statement {
  const layout = layoutOf(collection);
  const columns = layout.columns.filter((column) => column !== layout.position);
  const { source, values } = parameters(collection, columns, rows);
  const positioned = layout.position === undefined ? [] : [layout.position];
  const positions = positioned.map(() => ", nextval('tidings_positions')");
  const into = `INSERT INTO ${tableOf(collection)} AS t (${quoted([...columns, ...positioned])})`;
  const text = `${into} SELECT given.*${positions.join("")} FROM ${source}`;
  if (!adds) return { text, values };
  const key = collection.primary.columns;
  const sums = columns
    .filter((column) => !key.includes(column))
    .map((name) => `"${name}" = t."${name}" + excluded."${name}"`);
  return { text: `${text} ON CONFLICT (${quoted(key)}) DO UPDATE SET ${sums.join(", ")}`, values };
}

function updateStatement(
  collection: Collection,
  rows: readonly Row[],
  changed: readonly string[],
): Statement {
  const key = collection.primary.columns;
  const set = [...new Set([...changed, "version"])];
  const { source, values } = parameters(collection, [...key, ...set], rows);
  const sets = set.map((name) => `"${name}" = given."${name}"`).join(", ");
  const matched = key.map((name) => `t."${name}" = given."${name}"`).join(" AND ");
  return {
    text: `UPDATE ${tableOf(collection)} AS t SET ${sets} FROM ${source} WHERE ${matched}`,
    values,
  };
}

interface Parameters {
  /** A FROM item named `given`. */
  readonly source: string;
  readonly values: readonly unknown[];
}

function parameters(
  collection: Collection,
  columns: readonly string[],
  rows: readonly Row[],
): Parameters {
  const layout = layoutOf(collection);
  const types = new Map(columnsOf(collection).map(([name, { type }]) => [name, sqlTypes[type]]));
  const typed = columns.map((column, i) => `$${i + 1}::${types.get(column) ?? "bigint"}`);
  const valuesOf = (column: string): unknown[] =>
    rows.map((row) => layout.encodeAt(layout.place(column), row));
  if (rows.length === 1) {
    return {
      source: `(VALUES (${typed.join(", ")})) AS given(${quoted(columns)})`,
      values: columns.flatMap(valuesOf),
    };
  }
  return {
    source: `unnest(${typed.map((type) => `${type}[]`).join(", ")}) AS given(${quoted(columns)})`,
    values: columns.map(valuesOf),
  };
}
