/**
 * Fills a database with copies of the rows that an engine wrote. The engine wrote them within one
 * window of its clock, with the phone numbers of `seedNumber`. Each copy is moved to a later window
 * and gets other ids, numbers and positions, wherever these appear in a row.
 */
import { schema } from "../../src/modules.ts";
import { columnsOf, type Collection, type ColumnType } from "../../src/ports/index.ts";

/** The first 6 of the 10 characters of an id's time name a window of 2^20 ms, or 17.5 minutes. */
export const windowMs = 2 ** 20;
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function windowName(start: number): string {
  let rest = start / windowMs;
  let name = "";
  for (; name.length < 6; rest = Math.floor(rest / 32)) name = digits.charAt(rest % 32) + name;
  return name;
}

/** What all numbers of copy `k` begin with, without the plus sign. The seed is copy 0. */
const numberStart = (k: number): string => `121${String(k).padStart(4, "0")}`;
export const seedNumber = (i: number): string => `${numberStart(0)}${String(i).padStart(4, "0")}`;

/** Runs SQL in one session, and returns the first column of the first row. */
export type RunSql = (sql: string) => Promise<unknown>;

export interface CloneOptions {
  readonly run: RunSql;
  readonly storage: "SQLite" | "PostgreSQL";
  /** When the window of the seed began: a multiple of `windowMs`. */
  readonly start: number;
  /** How many copies there will be, with the seed. At most 10,000. */
  readonly copies: number;
}

const quoted = (name: string): string => `"${name}"`;
const tableOf = ({ name }: Collection): string => quoted(`tidings_${name}`);

/** Returns what a text of the seed is in copy `k`. */
export function copiedText(text: string, start: number, k: number): string {
  const [from, to] = [windowName(start), windowName(start + k * windowMs)];
  return text.replaceAll(`_${from}`, `_${to}`).replaceAll(numberStart(0), numberStart(k));
}

export async function cloneRows(options: CloneOptions): Promise<void> {
  const { run, storage, copies } = options;
  const indexes = storage === "PostgreSQL" ? await dropIndexes(run) : [];
  const cloned: Collection[] = [];
  let last = 0;
  for (const collection of schema.collections) {
    if (collection.kind === "counter") continue;
    const seed = quoted(`seed_${collection.name}`);
    const isCopied = copiedKeys(collection, options);
    await run(
      `CREATE TEMP TABLE ${seed} AS SELECT * FROM ${tableOf(collection)} WHERE ${isCopied}`,
    );
    if (Number(await run(`SELECT count(*) FROM ${seed}`)) > 0) cloned.push(collection);
    for (const [column, { type }] of columnsOf(collection)) {
      if (type !== "position") continue;
      const highest = await run(`SELECT max(${quoted(column)}) FROM ${tableOf(collection)}`);
      last = Math.max(last, Number(highest));
    }
  }
  for (let k = 1; k < copies; k++) {
    await run("BEGIN");
    for (const collection of cloned) await run(insertCopy(collection, options, k, last));
    await run("COMMIT");
  }
  const moved = last * (copies - 1);
  for (const reader of ["webhook_cursors", "consumers"]) {
    await run(`UPDATE ${quoted(`tidings_${reader}`)} SET position = position + ${moved}`);
  }
  if (storage === "SQLite") {
    await run(`UPDATE tidings_positions SET last = ${last * copies}`);
    await run("PRAGMA wal_checkpoint(TRUNCATE)");
  } else {
    await run(`SELECT setval('tidings_positions', ${last * copies})`);
    for (const index of indexes) await run(index);
    await run("VACUUM ANALYZE");
  }
}

/**
 * Drops all indexes but the primary keys, and returns the statements that create them. PostgreSQL
 * builds an index of many rows in a fraction of the time that it takes row by row.
 */
async function dropIndexes(run: RunSql): Promise<readonly string[]> {
  const from =
    "FROM pg_indexes WHERE schemaname = 'public' AND tablename LIKE 'tidings%' " +
    "AND indexname NOT LIKE '%_pkey'";
  const indexes = String(await run(`SELECT string_agg(indexdef, ';') ${from}`)).split(";");
  const names = await run(`SELECT string_agg(quote_ident(indexname), ', ') ${from}`);
  await run(`DROP INDEX ${String(names)}`);
  return indexes;
}

/** The condition for rows of which there can be copies: their key is another one in a copy. */
function copiedKeys(collection: Collection, options: CloneOptions): string {
  const { columns } = collection.primary;
  const changes = columns.map((column) => {
    const type = collection.columns[column]?.type ?? "integer";
    return type === "text"
      ? `${copyOf(column, type, options, 1, 0)} <> ${quoted(column)}`
      : "1 = 0";
  });
  return changes.join(" OR ");
}

function insertCopy(
  collection: Collection,
  options: CloneOptions,
  k: number,
  positions: number,
): string {
  const columns = columnsOf(collection).map(([name]) => name);
  const copies = columnsOf(collection).map(([name, { type }]) =>
    copyOf(name, type, options, k, positions),
  );
  return (
    `INSERT INTO ${tableOf(collection)} (${[...columns, "version"].map(quoted).join(", ")}) ` +
    `SELECT ${[...copies, "version"].join(", ")} FROM ${quoted(`seed_${collection.name}`)}`
  );
}

function copyOf(
  name: string,
  type: ColumnType,
  { storage, start }: CloneOptions,
  k: number,
  positions: number,
): string {
  const column = quoted(name);
  switch (type) {
    case "text":
    case "json": {
      // A hash of something that is different in a copy.
      if (name.endsWith("_hash")) return `'${numberStart(k)}' || substr(${column}, 8)`;
      const isCast = type === "json" && storage === "PostgreSQL";
      const ids = `'_${windowName(start)}', '_${windowName(start + k * windowMs)}'`;
      const inner = `replace(${isCast ? `${column}::text` : column}, ${ids})`;
      const text = `replace(${inner}, '${numberStart(0)}', '${numberStart(k)}')`;
      return isCast ? `(${text})::json` : text;
    }
    case "time":
      return `${column} + ${k * windowMs}`;
    case "position":
      return `${column} + ${k * positions}`;
    default:
      return column;
  }
}
