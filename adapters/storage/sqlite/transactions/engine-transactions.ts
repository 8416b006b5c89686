import type { DatabaseSync } from "node:sqlite";
import type { Access, Group } from "../../../../src/ports/index.ts";
import type { OpenTransactions } from "../../open-transactions.ts";
import { commitError, endedEarly } from "../../transaction-errors.ts";
import { rollBack } from "../connections/handle.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import { isEnded, toStorageError, unavailableError } from "../errors.ts";
import { QueuedGroup } from "./queued-group.ts";
import { WriteLock } from "./write-lock.ts";

/**
 * Runs the transactions of `engine.transaction`, on a connection of their own. They run one at a
 * time, because each holds the file's only write lock from its beginning to its end.
 */
export class EngineTransactions {
  readonly #connect: () => Promise<DatabaseSync>;
  readonly #file: string;
  readonly #lock: WriteLock;
  #handle: DatabaseSync | undefined;
  #isClosed = false;
  readonly #open: OpenTransactions;
  readonly #isAbandoned: () => boolean;

  /** `isAbandoned` returns whether nothing may wait for a lock. */
  constructor(
    file: string,
    connect: () => Promise<DatabaseSync>,
    open: OpenTransactions,
    isAbandoned: () => boolean,
  ) {
    this.#file = file;
    this.#lock = new WriteLock(file);
    this.#connect = connect;
    this.#open = open;
    this.#isAbandoned = isAbandoned;
  }

  async run<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    const release = await this.#lock.acquire();
    try {
      const handle = await this.#getHandle();
      const begin = (): void => {
        this.#refuseClosed();
        // A transaction that the work begins itself does not have this savepoint.
        handle.exec("BEGIN IMMEDIATE; SAVEPOINT tidings_transaction");
      };
      await whenUnlocked(this.#file, begin, this.#isAbandoned);
      return await this.#runOn(handle, work);
    } finally {
      release();
    }
  }

  /** Returns the group in a form that waits in one queue with these transactions. */
  queued(group: Group, access: Access): Group {
    return new QueuedGroup(group, access, this.#lock);
  }

  /** Closes the connection. An open transaction is rolled back. */
  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  async #runOn<T>(handle: DatabaseSync, work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    try {
      const value = await this.#open.run(handle, work);
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
      throw commitError(error, toStorageError(error, this.#file));
    }
  }

  async #getHandle(): Promise<DatabaseSync> {
    this.#refuseClosed();
    if (this.#handle !== undefined) return this.#handle;
    const handle = await this.#connect();
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
    if (this.#isClosed) throw unavailableError("The storage was closed.", this.#file);
  }
}
