import type { DatabaseSync, StatementSync } from "node:sqlite";
import { describe } from "../../../../src/kernel/index.ts";
import { StorageConflict, type Group, type Write } from "../../../../src/ports/index.ts";
import type { TableOf } from "../../make-tables.ts";
import type { OpenTransactions } from "../../open-transactions.ts";
import { endedEarly, invalidHandle } from "../../transaction-errors.ts";
import { Connection, fileOf } from "../connections/connection.ts";
import type { DatabaseFiles } from "../damage/database-files.ts";
import { isBusy, toStorageError } from "../errors.ts";
import type { Reads } from "../reads/reads.ts";
import type { Table } from "../tables/tables.ts";
import { runStepsOrThrow, stepsOf } from "../writes/writes.ts";

/** A handle that was joined before. */
interface Known {
  readonly connection: Connection;
  /** Works as long as the connection's prepared statements do. */
  readonly probe: StatementSync;
}

/** Groups inside transactions that the host application opened on its own handles. */
export class HostGroups {
  readonly #files: DatabaseFiles;
  readonly #reads: Reads;
  readonly #tableOf: TableOf<Table>;
  /** The transactions of `engine.transaction`. Errors in these give other advice. */
  readonly #engineTransactions: OpenTransactions;
  readonly #known = new WeakMap<DatabaseSync, Known>();

  constructor(
    files: DatabaseFiles,
    reads: Reads,
    tableOf: TableOf<Table>,
    engineTransactions: OpenTransactions,
  ) {
    this.#files = files;
    this.#reads = reads;
    this.#tableOf = tableOf;
    this.#engineTransactions = engineTransactions;
  }

  /**
   * Returns a group in the transaction that is open on `handle`.
   * @throws TidingsError `invalid_option` when the handle cannot be used, `storage_damaged`
   */
  group(handle: unknown): Group {
    this.#files.verify();
    const connection = this.#connection(this.#inTransaction(handle));
    const { path } = this.#files;
    // The application may end its transaction before the command ends. The savepoint of a commit
    // would then begin a transaction, which nobody rolls back.
    return {
      read: (lookups) => {
        this.#inTransaction(handle);
        return translateErrors(path, () =>
          lookups.map((lookup) => this.#reads.get(connection, lookup)),
        );
      },
      commit: (writes) => {
        this.#inTransaction(handle);
        translateErrors(path, () => write(connection, writes, this.#tableOf));
      },
      abort() {},
    };
  }

  /** @throws TidingsError `invalid_option` when no transaction is open on the handle */
  #inTransaction(handle: unknown): DatabaseSync {
    if (!isHandle(handle)) {
      throw invalidHandle(
        `expected a DatabaseSync of node:sqlite, got ${describe(handle)}. Another SQLite library ` +
          "in this process does not see the engine's locks, so commits would be lost.",
      );
    }
    if (this.#engineTransactions.has(handle) && !(handle.isOpen && handle.isTransaction)) {
      throw endedEarly();
    }
    if (!handle.isOpen) throw invalidHandle("expected an open database handle, got a closed one");
    if (!handle.isTransaction) {
      throw invalidHandle("expected a handle with an open transaction: run BEGIN first");
    }
    return handle;
  }

  #connection(handle: DatabaseSync): Connection {
    const known = this.#known.get(handle);
    if (known !== undefined && works(known.probe)) return known.connection;
    const { path } = this.#files;
    const other = fileOf(handle);
    if (other !== path) {
      const got = other || "a database in memory";
      throw invalidHandle(
        `expected a handle on the storage's database file ${path}, got one on ${got}`,
      );
    }
    const connection = new Connection(handle);
    this.#known.set(handle, { connection, probe: handle.prepare("SELECT 1") });
    return connection;
  }
}

/** A statement fails after its handle was closed, also when the handle was opened again. */
function works(statement: StatementSync): boolean {
  try {
    statement.get();
    return true;
  } catch {
    return false;
  }
}

function write(connection: Connection, writes: readonly Write[], tableOf: TableOf<Table>): void {
  const { handle } = connection;
  const steps = stepsOf(writes, tableOf);
  handle.exec("SAVEPOINT tidings");
  try {
    runStepsOrThrow(steps, connection);
    handle.exec("RELEASE tidings");
  } catch (error) {
    undoWrites(handle);
    throw error;
  }
}

/**
 * Undoes the engine's writes. The host application's transaction stays open, unless SQLite rolled
 * it back (for example because the disk is full).
 */
function undoWrites(handle: DatabaseSync): void {
  try {
    handle.exec("ROLLBACK TO tidings; RELEASE tidings");
  } catch {
    // SQLite rolled the transaction back, the savepoint included.
  }
}

/**
 * Does not wait for a lock. By the time it is free, the data that the host application's
 * transaction has read is outdated.
 */
function translateErrors<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isBusy(error)) {
      throw new StorageConflict("another connection is writing to the database", {
        cause: error,
        lastsForTransaction: true,
      });
    }
    throw toStorageError(error, file);
  }
}

function isHandle(handle: unknown): handle is DatabaseSync {
  // A static import would fail on an old Node before the check of its version.
  return handle instanceof process.getBuiltinModule("node:sqlite").DatabaseSync;
}
