import { namePrefix, quoted } from "../../sql.ts";
import type { Connection } from "../connections/connection.ts";
import type { Check } from "../thread/start-thread.ts";

/** The maximum size of a database that a quick check reads completely, in bytes. */
export const maxQuickBytes = 536_870_912;
/** How many rows of each table a quick check reads of a larger database. */
const rowsOfEachTable = 1_000;

/**
 * Returns the first damage that SQLite reports, or an empty text if there is none. Throws if SQLite
 * cannot read a page at all. A quick check reads a database of more than `maxBytes` only in part.
 * Tables of the host application are left out. SQLite would also report rows that violate their
 * constraints, and would fail if a constraint calls a function of the host application.
 */
export function findDamage(
  connection: Connection,
  check: Check,
  maxBytes: number = maxQuickBytes,
): string {
  const isWhole = check === "full" || sizeOf(connection) <= maxBytes;
  const pragma = check === "full" ? "integrity_check" : "quick_check";
  for (const [name] of rowsOf(connection, engineTables)) {
    const table = quoted(String(name));
    if (isWhole) {
      const problem = firstOf(connection, `${pragma}(${table})`);
      if (problem !== "ok") return problem.replaceAll(/\s+/g, " ");
    } else {
      // Throws if SQLite cannot read a page. All columns are selected, so that SQLite reads the
      // table and not one of its indexes.
      rowsOf(connection, `SELECT * FROM ${table} NOT INDEXED LIMIT ${rowsOfEachTable}`);
    }
  }
  return "";
}

const engineTables = `SELECT name FROM sqlite_schema WHERE rootpage > 0 AND type = 'table'
  AND substr(name, 1, ${namePrefix.length}) = '${namePrefix}'`;

/** Returns the size of the database in bytes. */
export const sizeOf = (connection: Connection): number =>
  numberOf(connection, "page_count") * numberOf(connection, "page_size");

const numberOf = (connection: Connection, pragma: string): number =>
  Number(firstOf(connection, pragma));

/** Returns the first row only. After a problem, SQLite may fail to read what follows. */
function firstOf(connection: Connection, pragma: string): string {
  const [value] = connection.statement(`PRAGMA ${pragma}`).get() as unknown[];
  return String(value);
}

/** Returns the rows as arrays of their columns. */
const rowsOf = (connection: Connection, sql: string): unknown[][] =>
  connection.statement(sql).all() as unknown[][];
