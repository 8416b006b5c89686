import type { DatabaseSync } from "node:sqlite";

/** A database of `node:sqlite` or better-sqlite3. Only what both have in common is used. */
export interface SqliteHandle {
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement;
  /** Runs statements that have no parameters and return no rows. */
  exec(sql: string): unknown;
}

/** A prepared statement of `node:sqlite` or better-sqlite3. */
export interface SqliteStatement {
  /** Runs the statement. */
  run(...values: (string | number | null)[]): {
    /** How many rows the statement changed. */
    readonly changes: number | bigint;
  };
  /** Returns the first row, or undefined. */
  get(...values: (string | number | null)[]): unknown;
  /** Returns all rows. */
  all(...values: (string | number | null)[]): unknown[];
  /** better-sqlite3: return rows as arrays. Throws for a statement that returns no rows. */
  raw?(on: boolean): unknown;
  /** better-sqlite3: return integers as bigints. */
  safeIntegers?(on: boolean): unknown;
  /** node:sqlite: return rows as arrays. */
  setReturnArrays?(on: boolean): unknown;
  /** node:sqlite: return integers as bigints. */
  setReadBigInts?(on: boolean): unknown;
}

/** A database handle and its prepared statements. Each statement is prepared once. */
export class Connection {
  readonly handle: SqliteHandle;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #queries = new Map<string, SqliteStatement>();

  constructor(handle: SqliteHandle) {
    this.handle = handle;
  }

  /** Returns a prepared statement that returns no rows. */
  statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns a prepared statement that returns each row as an array of its columns. */
  query(sql: string): SqliteStatement {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      query = this.handle.prepare(sql);
      returnArrays(query);
      this.#queries.set(sql, query);
    }
    return query;
  }
}

/** Makes rows arrays of numbers and text, whatever defaults the host application set. */
function returnArrays(query: SqliteStatement): void {
  if (query.setReturnArrays !== undefined) query.setReturnArrays(true);
  else query.raw?.(true);
  query.setReadBigInts?.(false);
  query.safeIntegers?.(false);
}

/**
 * Settings of every connection to the file. With `wal_autocheckpoint`, pages are written back to
 * the file once for many commits. 4,000 pages (a log of 16 MB) give most of the gain of a larger
 * log. 16,000 pages blocked the event loop for up to 50 ms, instead of 20 to 30.
 */
export const settings = `
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;
`;

/**
 * Settings of a connection that only reads. `mmap_size` is set to SQLite's maximum, so pages come
 * from the operating system's cache without a system call and a copy for each. Among a million
 * contacts, a search takes half as long. (In return, a disk error while reading ends the process.)
 */
export const readerSettings = `
  PRAGMA query_only = ON;
  PRAGMA mmap_size = 2147418112;
`;

/**
 * Opens the database file, and creates it if it does not exist. Throws the errors of SQLite.
 */
export function openFile(file: string): DatabaseSync {
  // A static import would fail on an old Node before the check of its version.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return new DatabaseSync(file);
}

/**
 * Rolls back. SQLite itself rolls back some failed transactions, and then no transaction is open.
 */
export function rollBack(handle: SqliteHandle): void {
  try {
    handle.exec("ROLLBACK");
  } catch {
    // No transaction is open.
  }
}

/** Returns the path of the handle's main database file. */
export function fileOf(handle: SqliteHandle): string {
  for (const row of handle.prepare("PRAGMA database_list").all()) {
    if (typeof row !== "object" || row === null || !("name" in row) || !("file" in row)) continue;
    if (row.name === "main") return String(row.file);
  }
  return "";
}
