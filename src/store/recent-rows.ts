import { type Clock, type Collection, keyOf, type Write } from "../ports/index.ts";
import { encodeKey } from "./keys.ts";
import type { AnySeen } from "./overlay.ts";

/** The maximum number of rows of one collection. The one that was kept first is dropped first. */
const maxRows = 5_000;
/** How long no row is kept after one of them turned out to be outdated, in milliseconds. */
const distrustMs = 10_000;

/**
 * Rows as the last commits of this process left them, so that a command need not read what another
 * one has just written. Only reads with the option `recent` use them. Such a read holds its row. So
 * if another process has changed the row, the commit meets a conflict. Then all rows are dropped,
 * and none is kept for a while: the other process may go on.
 *
 * Only collections that were read with that option have rows here.
 */
export class RecentRows {
  readonly #clock: Clock;
  readonly #byCollection = new Map<Collection, Map<string, AnySeen>>();
  #keepsAfter = -Infinity;

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

  /** Keeps the rows of a commit, and drops those that it removed. */
  apply(writes: readonly Write[]): void {
    if (this.#clock.now() < this.#keepsAfter) return;
    for (const write of writes) {
      const rows = this.#byCollection.get(write.collection);
      if (rows === undefined) continue;
      if (write.kind === "remove") rows.delete(encodeKey(write.key));
      else if (write.kind === "insert" || write.kind === "update") {
        rows.set(encodeKey(keyOf(write.collection, write.row)), write.row as AnySeen);
        if (rows.size > maxRows) dropFirst(rows);
      }
    }
  }

  /**
   * Drops the rows that a transaction of the host application wrote. It may have rolled back to a
   * savepoint. Then these writes were not committed, and the next versions have their numbers.
   */
  forget(writes: readonly Write[]): void {
    for (const write of writes) {
      const rows = this.#byCollection.get(write.collection);
      rows?.delete(encodeKey("key" in write ? write.key : keyOf(write.collection, write.row)));
    }
  }

  /** Drops all rows, because a commit met a conflict. */
  drop(): void {
    this.#keepsAfter = this.#clock.now() + distrustMs;
    for (const rows of this.#byCollection.values()) rows.clear();
  }
}

function dropFirst(rows: Map<string, AnySeen>): void {
  for (const first of rows.keys()) {
    rows.delete(first);
    return;
  }
}
