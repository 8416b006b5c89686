import type { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/errors.ts";
import type { Access, Group, Write } from "../../../src/ports/storage.ts";
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

  /**
   * The writer's group, which takes its turn between transactions: asking for the lock again and again it might never get it. An
   * exclusive one has its turn from its first read on, when it takes the lock, others for their commit alone.
   */
  between(group: Group, how: Access): Group {
    let turn: Promise<() => void> | undefined;
    const inTurn = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await (turn ??= this.#turn());
      return work();
    };
    const leave = async (): Promise<void> => {
      const leaving = turn;
      turn = undefined;
      (await leaving?.catch(() => undefined))?.();
    };
    const commit = async (writes: readonly Write[]): Promise<void> => {
      try {
        await inTurn(() => group.commit(writes));
      } finally {
        await leave();
      }
    };
    const abort = async (): Promise<void> => {
      await group.abort();
      await leave();
    };
    return {
      read: (lookups) => (how === "exclusive" ? inTurn(() => group.read(lookups)) : group.read(lookups)),
      commit: (writes) => (turn === undefined && this.#coming === 0 ? group.commit(writes) : commit(writes)),
      abort: () => (turn === undefined ? group.abort() : abort()),
    };
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
