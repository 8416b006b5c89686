import type { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Access, Group, Write } from "../../../src/ports/storage.ts";
import { translated, whenUnlocked } from "./errors.ts";
import { rollBack } from "./migrations.ts";
import { Turns } from "./turns.ts";

/**
 * Transactions that the host's statements run in, on a connection of their own. One at a time: each holds the file's one
 * write lock from its beginning to its end.
 */
export class Transactions {
  readonly #connect: () => Promise<DatabaseSync>;
  readonly #turns = new Turns();
  #connection: DatabaseSync | undefined;
  #closed = false;

  constructor(connect: () => Promise<DatabaseSync>) {
    this.#connect = connect;
  }

  async run<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    const leave = await this.#turns.take();
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
      await (turn ??= this.#turns.take());
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
      } catch (error) {
        // Its turn may not have come.
        await group.abort();
        throw error;
      } finally {
        await leave();
      }
    };
    const abort = async (): Promise<void> => {
      await group.abort();
      await leave();
    };
    return {
      read: (lookups) =>
        how === "exclusive" ? inTurn(() => group.read(lookups)) : group.read(lookups),
      commit: (writes) =>
        turn === undefined && this.#turns.areFree ? group.commit(writes) : commit(writes),
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
}

function commit(handle: DatabaseSync): void {
  try {
    handle.exec("COMMIT");
  } catch (error) {
    throw translated(error);
  }
}
