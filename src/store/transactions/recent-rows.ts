import {
  keyOf,
  type Clock,
  type Collection,
  type KeyValue,
  type Write,
} from "../../ports/index.ts";
import { KeyMap } from "./key-map.ts";
import type { Overlay } from "./overlay.ts";
import type { VersionedRow } from "./touched-rows.ts";

/**
 * The size of a generation of a collection's rows (`Generations`). A row is needed until the next
 * transaction of its message, so about as many are useful as messages are under way.
 */
const generationSize = 1_000;
/** How long no row is kept after one of them may have been outdated, in milliseconds. */
const distrustMs = 10_000;

/**
 * Rows as the last commits of this process left them, so that a command need not read what another
 * one has just written. Only reads with `hold: "recent"` use them. Such a read holds its row, so if
 * another process has changed the row, the commit meets a conflict. A conflict of commands that
 * took rows from here drops all rows, and none is kept for the next 10 s, because the other process
 * may write more.
 *
 * Only collections that were read in this way have rows here.
 */
export class RecentRows {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #byCollection = new Map<Collection, Generations<VersionedRow>>();
  #keepsFrom = -Infinity;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Returns the row with a primary key, if it is kept. */
  find(collection: Collection, key: readonly KeyValue[]): VersionedRow | undefined {
    const rows = this.#byCollection.get(collection);
    if (rows !== undefined) return rows.get(key);
    this.#byCollection.set(collection, new Generations<VersionedRow>(generationSize));
    return undefined;
  }

  /** Keeps the rows of a commit, and drops those that it removed. Does nothing after a conflict. */
  apply(committed: Overlay): void {
    if (this.#clock.monotonic() < this.#keepsFrom) return;
    for (const [collection, rows] of this.#byCollection) {
      for (const { key, row } of committed.written(collection)) {
        if (row === undefined) rows.delete(key);
        else rows.set(key, row);
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
      rows?.delete("key" in write ? write.key : keyOf(write.collection, write.row));
    }
  }

  /** Drops all rows, because one of them may have caused a conflict. */
  drop(): void {
    this.#keepsFrom = this.#clock.monotonic() + distrustMs;
    for (const rows of this.#byCollection.values()) rows.clear();
  }
}

/**
 * A map that forgets what was inserted long ago. It has two generations. After `size` insertions,
 * the new one becomes the old one, and the former old one is dropped. So the map has at least the
 * last `size` insertions, and at most twice as many. A deleted key still counts as an insertion,
 * since its memory is not freed.
 */
export class Generations<V> {
  readonly #size: number;
  #new = new KeyMap<V>();
  #old = new KeyMap<V>();
  /** The number of keys that were inserted into the new generation. */
  #count = 0;

  /** `size`: the number of insertions in a generation. */
  constructor(size: number) {
    this.#size = size;
  }

  get(key: readonly KeyValue[]): V | undefined {
    return this.#new.get(key) ?? this.#old.get(key);
  }

  set(key: readonly KeyValue[], value: V): void {
    if (this.#new.set(key, value) === undefined) this.#countInsertion();
  }

  delete(key: readonly KeyValue[]): void {
    this.#new.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#new = new KeyMap<V>();
    this.#old = new KeyMap<V>();
    this.#count = 0;
  }

  #countInsertion(): void {
    if (++this.#count < this.#size) return;
    this.#old = this.#new;
    this.#new = new KeyMap<V>();
    this.#count = 0;
  }
}
