import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { OpenTransactions } from "../../open-transactions.ts";
import { commitError, endedEarly } from "../../transaction-errors.ts";
import { rollBack } from "../connections/connection.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import type { DatabaseFiles } from "../damage/database-files.ts";
import { isEnded, toStorageError, unavailableError } from "../errors.ts";
import type { WriteLock } from "./write-lock.ts";

interface EngineTransactionsOptions {
  readonly files: DatabaseFiles;
  readonly lock: WriteLock;
  readonly connect: () => Promise<DatabaseSync>;
  readonly openTransactions: OpenTransactions;
  /** Whether nothing may wait for a lock. */
  readonly isAbandoned: () => boolean;
}

/**
 * Runs the transactions of `engine.transaction`, on a connection of their own. They run one at a
 * time, because each holds the file's only write lock from its beginning to its end.
 */
export class EngineTransactions {
  readonly #options: EngineTransactionsOptions;
  #handle: DatabaseSync | undefined;
  #isClosed = false;

  constructor(options: EngineTransactionsOptions) {
    this.#options = options;
  }

  async run<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    const { files, lock, isAbandoned } = this.#options;
    files.verify();
    const release = await lock.acquire();
    try {
      // Statements run synchronously. Without this pause, transactions that follow one another
      // would block all other work of the process, and keep the file's lock from other processes.
      await setImmediate();
      const handle = await this.#getHandle();
      const begin = (): void => {
        this.#refuseClosed();
        // A transaction that the work begins itself does not have this savepoint.
        handle.exec("BEGIN IMMEDIATE; SAVEPOINT tidings_transaction");
      };
      await whenUnlocked(files.path, begin, isAbandoned);
      return await this.#runOn(handle, work);
    } finally {
      release();
    }
  }

  /** Closes the connection. An open transaction is rolled back. */
  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  async #runOn<T>(handle: DatabaseSync, work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    const { files, openTransactions } = this.#options;
    try {
      const value = await openTransactions.run(handle, work);
      files.verify();
      this.#refuseClosed();
      this.#commit(handle);
      return value;
    } catch (error) {
      rollBack(handle);
      // The work may still be running, and must not write into the next transaction.
      this.#disconnect();
      throw error;
    }
  }

  #commit(handle: DatabaseSync): void {
    try {
      handle.exec("RELEASE tidings_transaction; COMMIT");
    } catch (error) {
      if (isEnded(error)) throw endedEarly();
      throw commitError(error, toStorageError(error, this.#options.files.path));
    }
  }

  async #getHandle(): Promise<DatabaseSync> {
    this.#refuseClosed();
    if (this.#handle !== undefined) return this.#handle;
    const handle = await this.#options.connect();
    this.#handle = handle;
    if (this.#isClosed) this.#disconnect();
    return handle;
  }

  #disconnect(): void {
    try {
      this.#handle?.close();
    } catch {
      // The host application closed it.
    }
    this.#handle = undefined;
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw unavailableError("The storage was closed.", this.#options.files.path);
  }
}
