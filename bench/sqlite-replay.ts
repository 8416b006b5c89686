/**
 * What SQLite itself can do with the rows of a send or a delivery. The engine's reads and writes
 * are recorded, and repeated by prepared statements on a database with the same tables and
 * settings.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { layoutOf } from "../adapters/storage/layout.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import { schema } from "../src/modules.ts";
import { columnsOf, type Index } from "../src/ports/collection.ts";
import type { Lookup, Write } from "../src/ports/storage.ts";
import { withTempFile } from "./support/engines.ts";
import { stopwatch, type Work } from "./support/measure.ts";
import { record, type Recordable, type Recorded } from "./support/recording.ts";

type Value = string | number | null;

interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The reads and writes of one commit. */
interface Commit {
  readonly reads: readonly Statement[];
  readonly writes: readonly Statement[];
}

/** The commits that set up the contacts, and those of the work, which is measured. */
export interface Prepared {
  readonly before: readonly Commit[];
  readonly work: readonly Commit[];
  readonly items: number;
}

/** Records the work and the commits before it. */
export function prepare(recordable: Recordable): Promise<Prepared> {
  return withTempFile(async (file) => {
    const { before, work } = await record(sqlite({ file }), recordable);
    let position = 0;
    const commit = ({ reads, writes }: Recorded): Commit => ({
      reads: reads.map(readStatement),
      writes: writes.map((write) => writeStatement(write, () => ++position)),
    });
    return { before: before.map(commit), work: work.map(commit), items: recordable.items };
  });
}

/** Repeats what was recorded, with or without the reads, and measures the work. */
export function replay(
  { before, work, items }: Prepared,
  reads: "with reads" | "writes only",
): Promise<Work> {
  return withTempFile((file) => {
    const db = open(file);
    const statements = new Map<string, StatementSync>();
    const prepared = (sql: string): StatementSync => {
      let statement = statements.get(sql);
      if (statement === undefined) statements.set(sql, (statement = db.prepare(sql)));
      return statement;
    };
    const run = ({ reads: read, writes }: Commit): void => {
      db.exec("BEGIN IMMEDIATE");
      if (reads === "with reads") for (const { sql, values } of read) prepared(sql).get(...values);
      for (const { sql, values } of writes) prepared(sql).run(...values);
      db.exec("COMMIT");
    };
    for (const each of before) run(each);
    const elapsed = stopwatch();
    for (const each of work) run(each);
    const measured = elapsed();
    db.close();
    return Promise.resolve({ items, ...measured });
  });
}

/** A database with the tables and settings of the SQLite adapter. */
function open(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA cache_size = -32768;
    PRAGMA temp_store = MEMORY;
    PRAGMA journal_mode = WAL;
  `);
  db.exec(sqlite({ file }).migrationSql(schema));
  return db;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
const equal = (names: readonly string[]): string =>
  names.map((name) => `"${name}" = ?`).join(" AND ");
const bound = (values: readonly unknown[]): Value[] =>
  values.map((value) => (typeof value === "boolean" ? Number(value) : (value as Value)));

function readStatement({ index, key, limit }: Lookup): Statement {
  const { name } = index.collection;
  const conditions = [equal(index.columns.slice(0, key.length)), ...partOf(index)].join(" AND ");
  return {
    sql: `SELECT * FROM "tidings_${name}" WHERE ${conditions} LIMIT ${limit}`,
    values: bound(key),
  };
}

function partOf({ where }: Index): string[] {
  if (where === undefined) return [];
  return "in" in where
    ? [`"${where.column}" IN ('${where.in.join("', '")}')`]
    : [`"${where.column}" IS NOT NULL`];
}

function writeStatement(write: Write, nextPosition: () => number): Statement {
  const { collection } = write;
  const name = `"tidings_${collection.name}"`;
  const { columns, encode, encodeAt, place, position } = layoutOf(collection);
  const key = collection.primary.columns;
  const places = columns.map(() => "?").join(", ");
  const insert = `INSERT INTO ${name} (${quoted(columns)}) VALUES (${places})`;
  switch (write.kind) {
    case "insert": {
      const row = position === undefined ? write.row : { ...write.row, [position]: nextPosition() };
      return { sql: insert, values: encode(row) };
    }
    case "add": {
      const sums = columnsOf(collection).filter(([column]) => !key.includes(column));
      const set = sums
        .map(([column]) => `"${column}" = "${column}" + excluded."${column}"`)
        .join(", ");
      return {
        sql: `${insert} ON CONFLICT (${quoted(key)}) DO UPDATE SET ${set}`,
        values: encode(write.row),
      };
    }
    case "update": {
      const changed = [...new Set([...write.changed, "version"])];
      const set = changed.map((column) => `"${column}" = ?`).join(", ");
      const values = changed.map((column) => encodeAt(place(column), write.row));
      const where = equal([...key, "version"]);
      return {
        sql: `UPDATE ${name} SET ${set} WHERE ${where}`,
        values: [...values, ...bound(write.key), write.version],
      };
    }
    case "remove":
    case "hold": {
      const verb = write.kind === "remove" ? "DELETE FROM" : "SELECT 1 FROM";
      return {
        sql: `${verb} ${name} WHERE ${equal([...key, "version"])}`,
        values: [...bound(write.key), write.version],
      };
    }
  }
}
