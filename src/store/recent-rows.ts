import { type Clock, type Collection, keyOf, type Write } from "../ports/index.ts";
import { encodeKey } from "./keys.ts";
import type { AnySeen, Overlay } from "./overlay.ts";

/**
 * The maximum number of rows of one collection. The one that was kept first is dropped first. A row
 * is needed until the next transaction of its message, so about as many are useful as messages are
 * under way.
 */
const maxRows = 1_000;
/** How long no row is kept after one of them may have been outdated, in milliseconds. */
const distrustMs = 10_000;

/**
 * Rows as the last commits of this process left them, so that a command need not read what another
 * one has just written. Only reads with `hold: "recent"` use them. Such a read holds its row, so if
 * another process has changed the row, the commit meets a conflict. A conflict of commands that took
 * rows from here drops all rows, and none is kept for the next 10 s, because the other process may
 * write more.
 *
 * Only collections that were read in this way have rows here.
 */
export class RecentRows {
  readonly #clock: Clock;
  readonly #byCollection = new Map<Collection, Map<string, AnySeen>>();
  #keepsFrom = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the row with an encoded primary key, if it is kept. */
  find(collection: Collection, id: string): AnySeen | undefined {
    const rows = this.#byCollection.get(collection);
    if (rows !== undefined) return rows.get(id);
    this.#byCollection.set(collection, new Map<string, AnySeen>());
    return undefined;
  }

  /** Keeps the rows of a commit, and drops those that it removed. Does nothing after a conflict. */
  apply(committed: Overlay): void {
    if (this.#clock.now() < this.#keepsFrom) return;
    for (const [collection, rows] of this.#byCollection) {
      for (const [id, { row }] of committed.written(collection)) {
        if (row === undefined) rows.delete(id);
        else rows.set(id, row);
        if (rows.size > maxRows) dropFirst(rows);
      }
    }
  }

  /**
   * Drops the rows that a transaction of the host application wrote, since they are outdated. It
   * does not keep the new ones: the application may have rolled back to a savepoint, and then
   * another row gets the same version.
   */
  forget(writes: readonly Write[]): void {
    for (const write of writes) {
      const rows = this.#byCollection.get(write.collection);
      rows?.delete(encodeKey("key" in write ? write.key : keyOf(write.collection, write.row)));
    }
  }

  /** Drops all rows, because one of them may have caused a conflict. */
  drop(): void {
    this.#keepsFrom = this.#clock.now() + distrustMs;
    for (const rows of this.#byCollection.values()) rows.clear();
  }
}

function dropFirst(rows: Map<string, AnySeen>): void {
  for (const first of rows.keys()) {
    rows.delete(first);
    return;
  }
}
