/**
 * A storage of your own, in the simplest form: arrays in memory, which are sorted and filtered at
 * each read. It has only the methods that every storage needs. The conformance suite tests it:
 *
 *     storageConformance({ describe, it }, "arrays", async () => {
 *       const database = emptyDatabase();
 *       return { connect: () => arrays(database) };
 *     });
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { TidingsError, type StoragePort } from "tidings";
import {
  StorageConflict,
  StorageRefusal,
  type Collection,
  type Group,
  type Index,
  type KeyValue,
  type Lookup,
  type Range,
  type Row,
  type Schema,
  type Search,
  type Write,
} from "tidings/ports";

/** What all connections share. */
export interface Database {
  /** By the name of the collection. */
  rows: Map<string, readonly Row[]>;
  /** The highest position in a log. */
  position: number;
  /** The version of the schema. 0 if no engine has opened the database yet. */
  version: number;
}

export const emptyDatabase = (): Database => ({ rows: new Map(), position: 0, version: 0 });

/** Returns a connection to the database. */
export function arrays(database: Database): StoragePort<undefined> {
  return {
    capabilities: {
      durable: false,
      shared: true,
      hostTransactions: false,
      transactions: 0,
      synchronous: true,
    },
    open: async (schema) => migrate(database, schema),
    migrate: async (schema) => migrate(database, schema),
    migrationSql: () => "",
    begin: () => groupOn(database),
    reader: {
      get: async (lookups) => lookups.map((lookup) => lookUp(database, lookup)),
      range: async (range) => rangeOf(database, range),
      search: async (searches) => searches.map((search) => found(database, search)),
    },
    yieldToEventLoop: () => nextTurn(),
    async close() {},
  };
}

/**
 * Gives older rows the columns that a newer version of tidings has added. Arrays need no tables. A
 * database also creates a table for each new collection, and the new indexes.
 * @throws TidingsError `storage_newer`
 */
function migrate(database: Database, { version, collections }: Schema): void {
  if (database.version > version) {
    const message = `The database has version ${database.version}, and the code ${version}.`;
    throw new TidingsError("storage_newer", message);
  }
  for (const collection of collections) {
    const added = Object.entries(collection.columns)
      .filter(([, { since }]) => since > database.version)
      // The fill value of a JSON column is JSON text.
      .map(([name, { type, fill = null }]) => [
        name,
        type === "json" && fill !== null ? (JSON.parse(String(fill)) as unknown) : fill,
      ]);
    const fills = Object.fromEntries(added) as Row;
    const rows = rowsOf(database, collection).map((row) => ({ ...row, ...fills }));
    database.rows.set(collection.name, rows);
  }
  database.version = version;
}

function groupOn(database: Database): Group {
  return {
    read: (lookups) => lookups.map((lookup) => lookUp(database, lookup)),
    /** Writes to a copy, which replaces the rows at the end: all writes are committed, or none. */
    commit(writes) {
      const copy = { ...database, rows: new Map(database.rows) };
      for (const write of writes) apply(copy, write);
      for (const collection of new Set(writes.map((write) => write.collection))) {
        checkUnique(collection, rowsOf(copy, collection));
      }
      Object.assign(database, copy);
    },
    abort() {},
  };
}

function rowsOf(database: Database, { name }: Collection): readonly Row[] {
  return database.rows.get(name) ?? [];
}

/** Rows go in and out as copies, so that nobody can change what is stored. */
function lookUp(database: Database, { index, key, order, limit }: Lookup): readonly Row[] {
  const ascending = sortedUnder(database, index, key);
  const rows = order === "descending" ? ascending.toReversed() : ascending;
  return structuredClone(rows.slice(0, limit));
}

function rangeOf(
  database: Database,
  { index, prefix, order, after, until, where = {}, skip = 0, limit }: Range,
): readonly Row[] {
  const ascending = sortedUnder(database, index, prefix);
  const columns = orderOf(index).slice(prefix.length);
  const sign = order === "ascending" ? 1 : -1;
  /** Below 0 if the row comes before the bound, in the direction of the range. */
  const compare = (row: Row, bound: readonly KeyValue[]): number =>
    sign * compareKeys(valuesOf(row, columns.slice(0, bound.length)), bound);
  const rows = (order === "ascending" ? ascending : ascending.toReversed())
    .filter((row) => after === undefined || compare(row, after) > 0)
    .filter((row) => until === undefined || compare(row, until) < 0)
    .filter((row) =>
      Object.entries(where).every(([column, values]) =>
        [values].flat().includes(valueOf(row, column)),
      ),
    );
  return structuredClone(rows.slice(skip, skip + limit));
}

function found(database: Database, { index, words, limit }: Search): readonly Row[] {
  const rows = rowsOf(database, index.collection).filter((row) => {
    const text = valueOf(row, index.column);
    const own = typeof text === "string" ? text.split(" ") : [];
    return words.every(({ word, prefix }) =>
      own.some((each) => (prefix ? each.startsWith(word) : each === word)),
    );
  });
  return structuredClone(rows.slice(0, limit));
}

/** The rows that an index contains and whose leading columns equal the key, in index order. */
function sortedUnder(database: Database, index: Index, key: readonly KeyValue[]): readonly Row[] {
  const leading = index.columns.slice(0, key.length);
  return rowsOf(database, index.collection)
    .filter((row) => contains(index, row) && compareKeys(valuesOf(row, leading), key) === 0)
    .toSorted((a, b) => compareKeys(valuesOf(a, orderOf(index)), valuesOf(b, orderOf(index))));
}

function contains({ where }: Index, row: Row): boolean {
  if (where === undefined) return true;
  const value = valueOf(row, where.column);
  return "in" in where ? where.in.includes(String(value)) : value !== null;
}

/** The columns of an index, followed by those of the primary key that it lacks. */
function orderOf({ columns, collection }: Index): readonly string[] {
  return [...columns, ...collection.primary.columns.filter((column) => !columns.includes(column))];
}

/** @throws StorageConflict, StorageRefusal */
function apply(database: Database, write: Write): void {
  const { collection } = write;
  const rows = rowsOf(database, collection);
  const key = "key" in write ? write.key : keyOf(collection, write.row);
  const at = rows.findIndex((row) => compareKeys(keyOf(collection, row), key) === 0);
  const stored = rows[at];
  if ("key" in write) {
    // Counters have no version.
    const isCurrent = collection.kind === "counter" || stored?.["version"] === write.version;
    if (stored === undefined || !isCurrent) throw new StorageConflict("The row was changed.");
  }
  if (write.kind === "hold") return;
  const others = stored === undefined || write.kind === "insert" ? rows : rows.toSpliced(at, 1);
  const added = "row" in write ? [newRow(database, write, stored)] : [];
  database.rows.set(collection.name, [...others, ...added]);
}

function newRow(
  database: Database,
  { collection, kind, row }: Extract<Write, { readonly row: Row }>,
  stored: Row | undefined,
): Row {
  const written: Record<string, unknown> = { ...structuredClone(row) };
  for (const [name, { type, nullable }] of Object.entries(collection.columns)) {
    const fits = row[name] === null ? nullable : isOfType[type](row[name]);
    if (!fits) throw new StorageRefusal(`${collection.name}.${name} cannot hold this value.`);
    if (type === "position" && kind === "insert") written[name] = ++database.position;
    const isSum = kind === "add" && !collection.primary.columns.includes(name);
    if (isSum) written[name] = Number(stored?.[name] ?? 0) + Number(row[name]);
  }
  return written;
}

const isOfType = {
  text: (value: unknown) => typeof value === "string" && value.isWellFormed(),
  integer: Number.isSafeInteger,
  time: Number.isSafeInteger,
  position: Number.isSafeInteger,
  real: Number.isFinite,
  boolean: (value: unknown) => typeof value === "boolean",
  json: (value: unknown) => value !== undefined && typeof value !== "bigint",
} as const;

/**
 * Checks the rows as all writes of a group leave them: one row may take a key that another frees.
 * @throws StorageConflict
 */
function checkUnique(collection: Collection, rows: readonly Row[]): void {
  for (const index of [collection.primary, ...collection.indexes].filter(({ unique }) => unique)) {
    const keys = rows
      .filter((row) => contains(index, row))
      .map((row) => valuesOf(row, index.columns))
      // A null differs from every other null.
      .filter((key) => !key.includes(null))
      .map((key) => JSON.stringify(key));
    if (new Set(keys).size < keys.length) {
      throw new StorageConflict(`Another row of ${collection.name} has this ${index.name}.`);
    }
  }
}

function keyOf({ primary }: Collection, row: Row): readonly KeyValue[] {
  return valuesOf(row, primary.columns);
}

function valuesOf(row: Row, columns: readonly string[]): readonly KeyValue[] {
  return columns.map((column) => valueOf(row, column));
}

/** Columns of keys and indexes hold no JSON. */
function valueOf(row: Row, column: string): KeyValue {
  return (row[column] ?? null) as KeyValue;
}

/** Null comes first, false before true, and text is in the order of its code points. */
function compareKeys(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    return typeof left === "string"
      ? Buffer.compare(Buffer.from(left), Buffer.from(String(right)))
      : Number(left) - Number(right);
  }
  return 0;
}
