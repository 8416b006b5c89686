import type { Access, Group, Lookup, Row, Write } from "../../../src/ports/storage.ts";
import { isStale, whenUnlocked } from "./errors.ts";
import type { Connection } from "./handle.ts";
import { rollBack } from "./migrations.ts";
import type { Reads } from "./reads.ts";
import type { BackgroundWriter } from "./background-writer.ts";
import { type Step, stepsOf, take } from "./writes.ts";
import type { Table } from "./tables.ts";

/**
 * The connection that commits groups. A group's first read begins a transaction, so that its reads are cheap; its
 * writes happen in one turn of the event loop, from the first to COMMIT. Guards are checked by the writes themselves,
 * so a commit is right whatever the reads' transaction has seen, and needs it no longer when another process wrote
 * since.
 */
export class Writer {
  readonly connection: Connection;
  readonly #reads: Reads;
  readonly #table: (name: string) => Table;
  readonly #background: BackgroundWriter;
  #reading = false;
  #groups = 0;
  #ended: (() => void) | undefined;

  constructor(
    connection: Connection,
    reads: Reads,
    table: (name: string) => Table,
    background: BackgroundWriter,
  ) {
    this.connection = connection;
    this.#reads = reads;
    this.#table = table;
    this.#background = background;
  }

  begin(how: Access): Group {
    this.#groups++;
    let open = true;
    let hasRead = false;
    const end = (): void => {
      if (!open) return;
      open = false;
      if (--this.#groups === 0) this.#ended?.();
    };
    return {
      read: (lookups) =>
        whenUnlocked(() => {
          // What the group before read in is older than what has been committed since.
          if (!hasRead) this.#endReading();
          hasRead = true;
          return this.#read(lookups, how);
        }),
      commit: (writes) => {
        let waits: Promise<void> | undefined;
        try {
          const committed = this.#commit(writes, how);
          waits = committed instanceof Promise ? committed.finally(end) : undefined;
          return waits;
        } finally {
          if (waits === undefined) end();
        }
      },
      abort: () => {
        if (open) this.#endReading();
        end();
      },
    };
  }

  async close(): Promise<void> {
    await this.#background.close();
  }

  /** Resolves when no group is under way. */
  async idle(): Promise<void> {
    if (this.#groups === 0) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }

  #read(lookups: readonly Lookup[], how: Access): Row[][] {
    if (!this.#reading) {
      this.connection.statement(how === "exclusive" ? "BEGIN IMMEDIATE" : "BEGIN").run();
      this.#reading = true;
    }
    try {
      return lookups.map((lookup) => this.#reads.get(this.connection, lookup));
    } catch (error) {
      // SQLite may have ended the transaction with the error, and writes must never run outside of one.
      this.#endReading();
      throw error;
    }
  }

  #commit(writes: readonly Write[], how: Access): void | Promise<void> {
    const steps = stepsOf(writes, this.#table);
    // An exclusive group's lock is this connection's.
    const stays = how === "exclusive" || !this.#background.takes(writes.length);
    if (stays) return whenUnlocked(() => this.#commitHere(steps));
    this.#endReading();
    return this.#background.commit(steps);
  }

  #commitHere(steps: readonly Step[]): void {
    if (this.#reading) {
      this.#reading = false;
      try {
        this.#write(steps);
        return;
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
    this.connection.statement("BEGIN IMMEDIATE").run();
    this.#write(steps);
  }

  #write(steps: readonly Step[]): void {
    try {
      take(steps, this.connection);
      this.connection.statement("COMMIT").run();
    } catch (error) {
      rollBack(this.connection.handle);
      throw error;
    }
  }

  #endReading(): void {
    if (!this.#reading) return;
    this.#reading = false;
    rollBack(this.connection.handle);
  }
}
