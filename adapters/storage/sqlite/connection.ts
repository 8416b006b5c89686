import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * A prepared query whose rows are arrays of columns. The types of `node:sqlite` have only objects.
 */
export interface ArrayQuery extends Pick<StatementSync, "run"> {
  /** Returns the first row, or undefined. */
  get(...values: (string | number | null)[]): unknown;
  /** Returns all rows. */
  all(...values: (string | number | null)[]): unknown[];
}

/** A database handle and its prepared statements. Each statement is prepared once. */
export class Connection {
  readonly handle: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #queries = new Map<string, ArrayQuery>();

  constructor(handle: DatabaseSync) {
    this.handle = handle;
  }

  /** Returns a prepared statement that returns no rows. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Returns a prepared statement that returns each row as an array of its columns. */
  query(sql: string): ArrayQuery {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      query = arrayQuery(this.handle, sql);
      this.#queries.set(sql, query);
    }
    return query;
  }
}

/** Its rows have numbers and text, whatever defaults the host application set. */
function arrayQuery(handle: DatabaseSync, sql: string): ArrayQuery {
  const query = handle.prepare(sql);
  query.setReturnArrays(true);
  query.setReadBigInts(false);
  return query;
}

/**
 * The size to which SQLite shortens a longer write-ahead log when it begins again at the front, in
 * bytes. The log grows longer only while something reads at each checkpoint.
 */
export const maxLogBytes = 33_554_432;

/**
 * Settings of every connection to the file. With `wal_autocheckpoint`, pages are written back to
 * the file once for many commits. 4,000 pages (a log of 16 MB) give most of the gain of a larger
 * log. 16,000 pages blocked the event loop for up to 50 ms, instead of 20 to 30.
 */
export const settings = `
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA journal_size_limit = ${maxLogBytes};
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

/** The primary result code SQLITE_READONLY (https://sqlite.org/rescode.html). */
const readOnly = 8;

/**
 * Throws SQLite's error if the connection can only read. If the process may not write to the file
 * when SQLite opens it, the connection can never write, even after the file becomes writable.
 */
export function refuseReadOnly(handle: DatabaseSync): void {
  try {
    // Only a statement that writes finds out. BEGIN IMMEDIATE does not.
    handle.exec("BEGIN; PRAGMA user_version = 0");
  } catch (error) {
    const { errcode = 0 } = error as { readonly errcode?: number };
    // Another connection may hold the lock. SQLite asks for it only after this check.
    if ((errcode & 0xff) === readOnly) throw error;
  } finally {
    rollBack(handle);
  }
}

/**
 * Rolls back. SQLite itself rolls back some failed transactions, and then no transaction is open.
 */
export function rollBack(handle: DatabaseSync): void {
  try {
    handle.exec("ROLLBACK");
  } catch {
    // No transaction is open.
  }
}

/** Returns the path of the handle's main database file. */
export function fileOf(handle: DatabaseSync): string {
  const rows = arrayQuery(handle, "PRAGMA database_list").all() as [number, string, string][];
  const [, , file] = rows.find(([, name]) => name === "main") ?? [];
  return file ?? "";
}
