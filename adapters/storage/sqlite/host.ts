import { TidingsError } from "../../../src/kernel/errors.ts";
import { type Group, StorageConflict, type Write } from "../../../src/ports/storage.ts";
import { isBusy, translated } from "./errors.ts";
import { Connection, type SqliteHandle } from "./handle.ts";
import type { Reads } from "./reads.ts";
import { stepsOf, take } from "./writes.ts";
import type { Table } from "./tables.ts";

/** Groups within transactions that the host has open, on handles of its own to the same database. */
export class HostTransactions {
  readonly #connections = new WeakMap<SqliteHandle, Connection>();

  /** `file` is the database's path, as SQLite knows it. */
  group(handle: unknown, file: string, reads: Reads, table: (name: string) => Table): Group {
    const connection = this.#connection(handle, file);
    return {
      read: (lookups) => lookups.map((lookup) => joined(() => reads.get(connection, lookup))),
      commit: (writes) => joined(() => write(connection, writes, table)),
      abort() {},
    };
  }

  #connection(handle: unknown, file: string): Connection {
    if (!isHandle(handle)) {
      throw invalidHandle(
        `expected a node:sqlite or better-sqlite3 database handle, got ${typeof handle}`,
      );
    }
    if (isClosed(handle)) throw invalidHandle("the handle is closed");
    if (openTransaction(handle) === false) {
      throw invalidHandle("the handle has no transaction open: BEGIN first");
    }
    let connection = this.#connections.get(handle);
    if (connection === undefined) {
      if (fileOf(handle) !== file) {
        throw invalidHandle("the handle is on another database file than the storage");
      }
      connection = new Connection(handle);
      this.#connections.set(handle, connection);
    }
    return connection;
  }
}

function write(
  connection: Connection,
  writes: readonly Write[],
  table: (name: string) => Table,
): void {
  const { handle } = connection;
  const steps = stepsOf(writes, table);
  handle.exec("SAVEPOINT tidings");
  try {
    take(steps, connection);
    handle.exec("RELEASE tidings");
  } catch (error) {
    undo(handle);
    throw error;
  }
}

/** The host's transaction is left as it was, unless SQLite had to roll all of it back (a full disk, a failed one). */
function undo(handle: SqliteHandle): void {
  try {
    handle.exec("ROLLBACK TO tidings; RELEASE tidings");
  } catch {
    // The savepoint went with the transaction.
  }
}

/** Waiting for a lock would not help here: by then what the host's transaction has read is outdated. */
function joined<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isBusy(error)) {
      throw new StorageConflict("another connection writes to the database", { cause: error });
    }
    throw translated(error);
  }
}

export function fileOf(handle: SqliteHandle): string {
  for (const row of handle.prepare("PRAGMA database_list").all()) {
    if (typeof row !== "object" || row === null || !("name" in row) || !("file" in row)) continue;
    if (row.name === "main") return String(row.file);
  }
  return "";
}

function isHandle(handle: unknown): handle is SqliteHandle {
  if (typeof handle !== "object" || handle === null) return false;
  if (!("prepare" in handle && "exec" in handle)) return false;
  return typeof handle.prepare === "function" && typeof handle.exec === "function";
}

function isClosed(handle: SqliteHandle): boolean {
  return (
    ("isOpen" in handle && handle.isOpen === false) || ("open" in handle && handle.open === false)
  );
}

/** Whether the handle has a transaction open; `undefined` where it can't tell. */
function openTransaction(handle: SqliteHandle): boolean | undefined {
  if ("isTransaction" in handle && typeof handle.isTransaction === "boolean") {
    return handle.isTransaction;
  }
  if ("inTransaction" in handle && typeof handle.inTransaction === "boolean") {
    return handle.inTransaction;
  }
  return undefined;
}

function invalidHandle(what: string): TidingsError {
  return new TidingsError("invalid_option", `tx: ${what}`);
}
