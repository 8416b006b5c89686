/**
 * The handles of the database file, their settings and their prepared statements. The worker thread
 * imports this module, so it throws SQLite's errors as they are.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * The size to which SQLite shortens a longer write-ahead log when it starts to overwrite the log
 * from its beginning, in bytes. The log gets longer only if something reads during each checkpoint.
 */
export const maxLogBytes = 33_554_432;

/**
 * Settings of every connection to the file. With `wal_autocheckpoint`, pages are written back to
 * the file once for many commits. 4,000 pages (a log of 16 MB) give most of the gain of a larger
 * log. 16,000 pages blocked the event loop for up to 50 ms, instead of 20 to 30.
 */
export const connectionSettings = `
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

/** Returns the path of the handle's main database file. Empty for a database in memory. */
export function fileOf(handle: DatabaseSync): string {
  return handle.location() ?? "";
}

/**
 * A prepared statement whose rows are arrays of columns. The types of `node:sqlite` have only
 * objects.
 */
interface Statement extends Pick<StatementSync, "run"> {
  /** Returns the first row, or undefined. */
  get(...values: (string | number | null)[]): unknown;
  /** Returns all rows. */
  all(...values: (string | number | null)[]): unknown[];
}

/** A database handle and its prepared statements. */
export class Connection {
  readonly handle: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(handle: DatabaseSync) {
    this.handle = handle;
  }

  /** Returns a prepared statement. Each is prepared once. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = prepare(this.handle, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Its rows have numbers and text, whatever defaults the host application set. */
function prepare(handle: DatabaseSync, sql: string): Statement {
  const statement = handle.prepare(sql);
  statement.setReturnArrays(true);
  statement.setReadBigInts(false);
  return statement;
}
