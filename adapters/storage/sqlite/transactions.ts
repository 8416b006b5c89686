import type { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/errors.ts";
import type { Group, Write } from "../../../src/ports/storage.ts";
import { patienceMs, translated, whenUnlocked } from "./errors.ts";
import { rollBack } from "./migrations.ts";

/**
 * Transactions that the host's statements run in, on a connection of their own. One at a time: each holds the file's one
 * write lock from its beginning to its end.
 */
export class Transactions {
  readonly #connect: () => Promise<DatabaseSync>;
  #connection: DatabaseSync | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Those that have their turn or wait for it. */
  #coming = 0;
  #closed = false;

  constructor(connect: () => Promise<DatabaseSync>) {
    this.#connect = connect;
  }

  async run<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    const leave = await this.#turn();
    try {
      const handle = await this.#connected();
      await whenUnlocked(() => {
        this.#refuseClosed();
        handle.exec("BEGIN IMMEDIATE");
      });
      return await this.#carryOut(handle, work);
    } finally {
      leave();
    }
  }

  /** The writer's group, whose commit takes its turn between transactions: asking for the lock again and again it might never get it. */
  between(group: Group): Group {
    return {
      read: (lookups) => group.read(lookups),
      commit: (writes) => (this.#coming === 0 ? group.commit(writes) : this.#commit(group, writes)),
      abort: () => group.abort(),
    };
  }

  async #commit(group: Group, writes: readonly Write[]): Promise<void> {
    const leave = await this.#turn();
    try {
      await group.commit(writes);
    } finally {
      leave();
    }
  }

  /** Takes the connection from whoever has a transaction open: it leaves no trace. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  async #carryOut<T>(handle: DatabaseSync, work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    try {
      const value = await work(handle);
      this.#refuseClosed();
      commit(handle);
      return value;
    } catch (error) {
      rollBack(handle);
      // What failed may go on all the same, and must not write into the next transaction.
      this.#drop();
      throw error;
    }
  }

  async #connected(): Promise<DatabaseSync> {
    this.#refuseClosed();
    if (this.#connection !== undefined) return this.#connection;
    const connection = await this.#connect();
    this.#connection = connection;
    if (this.#closed) this.#drop();
    return connection;
  }

  #drop(): void {
    try {
      this.#connection?.close();
    } catch {
      // Its user closed it.
    }
    this.#connection = undefined;
  }

  #refuseClosed(): void {
    if (this.#closed) throw new TidingsError("storage_unavailable", "The storage was closed.");
  }

  /** Waits for those before. Answers how to leave it to those behind. */
  #turn(): Promise<() => void> {
    const before = this.#last;
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => {
      leave = () => {
        this.#coming--;
        resolve();
      };
    });
    this.#last = before.then(() => left);
    this.#coming++;
    return new Promise((resolve, reject) => {
      // One that is opened within another one would wait for ever.
      const late = setTimeout(() => {
        leave();
        const message = "Another transaction of this process has been open for too long.";
        reject(new TidingsError("storage_unavailable", message));
      }, patienceMs);
      void before.then(() => {
        clearTimeout(late);
        resolve(leave);
      });
    });
  }
}

function commit(handle: DatabaseSync): void {
  try {
    handle.exec("COMMIT");
  } catch (error) {
    throw translated(error);
  }
}
