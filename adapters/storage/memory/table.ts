import {
  StorageConflict,
  StorageRefusal,
  type Collection,
  type KeyValue,
  type Lookup,
  type Range,
  type Row,
  type Search,
  type Write,
} from "../../../src/ports/index.ts";
import { layoutOf, storedKey, storedValue, type Layout, type Stored } from "../layout.ts";
import { acceptedValues } from "../range-parts.ts";
import { SortedIndex, type RowCell } from "./sorted-index.ts";
import type { StoredRow } from "./sorted-list.ts";
import { WordIndex } from "./word-index.ts";

/** Undoes one write. */
export type Undo = () => void;

type AnyIndex = SortedIndex | WordIndex;

/** The rows of a collection, in its primary index and all other indexes. */
export class Table {
  readonly layout: Layout;
  readonly #primary: SortedIndex;
  /** By name. The first is the primary index. */
  readonly #indexes: ReadonlyMap<string, SortedIndex>;
  readonly #wordIndexes: ReadonlyMap<string, WordIndex>;
  readonly #allIndexes: readonly AnyIndex[];
  readonly #keyPlaces: readonly number[];

  constructor(collection: Collection) {
    this.layout = layoutOf(collection);
    this.#primary = new SortedIndex(this.layout, collection.primary);
    this.#indexes = new Map([
      ["primary", this.#primary],
      ...collection.indexes.map(
        (index) => [index.name, new SortedIndex(this.layout, index)] as const,
      ),
    ]);
    this.#wordIndexes = new Map(
      collection.wordIndexes.map((index) => [index.name, new WordIndex(this.layout, index)]),
    );
    this.#allIndexes = [...this.#indexes.values(), ...this.#wordIndexes.values()];
    this.#keyPlaces = collection.primary.columns.map((column) => this.layout.place(column));
  }

  get({ index, key, limit, order = "ascending" }: Lookup): Row[] {
    const found = this.#index(index.name);
    if (limit !== 1 || order === "descending") {
      return this.#take(found.walk(storedKey(key), order), () => true, limit);
    }
    const cell = found.first(storedKey(key));
    return cell === undefined ? [] : [this.layout.decode(cell.row)];
  }

  range({ index, prefix, order, after, until, where, skip, limit }: Range): Row[] {
    const filters = Object.entries(where ?? {}).map(([column, filter]) => {
      const place = this.layout.place(column);
      const values = new Set(acceptedValues(filter).map(storedValue));
      return (row: StoredRow): boolean => values.has(row[place] ?? null);
    });
    const rows = this.#index(index.name).walk(
      storedKey(prefix),
      order,
      after && storedKey(after),
      until && storedKey(until),
    );
    return this.#take(rows, (row) => filters.every((passes) => passes(row)), limit, skip);
  }

  search({ index, words, limit }: Search): Row[] {
    const found = this.#wordIndexes.get(index.name);
    if (found === undefined) {
      throw new TypeError(`${this.layout.collection.name} has no word index ${index.name}`);
    }
    return this.#take(found.search(words), () => true, limit);
  }

  /** Returns every row, for a migration. */
  all(): Row[] {
    return this.#take(this.#primary.walk([]), () => true, Number.POSITIVE_INFINITY);
  }

  /** Inserts a row with its position and version, for a migration. */
  restore(row: Row): void {
    this.#insert(this.layout.encode(row));
  }

  /**
   * Applies one write and returns a function that undoes it.
   * @throws StorageConflict when a guard fails or a unique key is taken
   * @throws StorageRefusal when a value does not fit its column. In both cases the table is
   *   unchanged.
   */
  apply(write: Write, nextPosition: () => number): Undo {
    switch (write.kind) {
      case "insert":
        return this.#insert(
          this.layout.position === undefined
            ? this.layout.encode(write.row)
            : this.layout.encode(write.row, nextPosition()),
        );
      case "update": {
        const cell = this.#findGuarded(write.key, write.version);
        const row = cell.row.slice();
        for (const column of write.changed) this.#set(row, column, write.row);
        this.#set(row, "version", write.row);
        return this.#replace(cell, row);
      }
      case "remove":
        return this.#remove(this.#findGuarded(write.key, write.version));
      case "hold":
        this.#findGuarded(write.key, write.version);
        return () => {};
      case "add":
        return this.#addToCounter(this.layout.encode(write.row));
    }
  }

  #index(name: string): SortedIndex {
    const index = this.#indexes.get(name);
    if (index === undefined) {
      throw new TypeError(`${this.layout.collection.name} has no index ${name}`);
    }
    return index;
  }

  #take(
    walk: Iterable<StoredRow>,
    passes: (row: StoredRow) => boolean,
    limit: number,
    skip = 0,
  ): Row[] {
    const rows: Row[] = [];
    if (limit <= 0) return rows;
    let left = skip;
    for (const row of walk) {
      if (!passes(row) || left-- > 0) continue;
      rows.push(this.layout.decode(row));
      if (rows.length >= limit) break;
    }
    return rows;
  }

  #findGuarded(key: readonly KeyValue[], version: number): RowCell {
    const cell = this.#primary.first(storedKey(key));
    if (cell === undefined) throw this.#conflict("was deleted");
    const { versioned } = this.layout;
    if (versioned && cell.row[this.layout.place("version")] !== version) {
      throw this.#conflict("was changed in the meantime");
    }
    return cell;
  }

  #insert(row: StoredRow): Undo {
    if (this.#keyPlaces.some((place) => row[place] === null)) {
      throw new StorageRefusal(`the primary key of ${this.layout.collection.name} cannot be null`);
    }
    const cell = { row };
    this.#addToIndexes(this.#allIndexes, cell);
    return () => removeFromIndexes(this.#allIndexes, cell);
  }

  #remove(cell: RowCell): Undo {
    removeFromIndexes(this.#allIndexes, cell);
    return () => this.#addToIndexes(this.#allIndexes, cell);
  }

  #set(row: Stored[], column: string, from: Row): void {
    const place = this.layout.place(column);
    row[place] = this.layout.encodeAt(place, from);
  }

  #replace(cell: RowCell, after: StoredRow): Undo {
    const before = cell.row;
    const moved = this.#allIndexes.filter((each) => each.mustMove(before, after));
    removeFromIndexes(moved, cell);
    cell.row = after;
    try {
      this.#addToIndexes(moved, cell);
    } catch (error) {
      cell.row = before;
      this.#addToIndexes(moved, cell);
      throw error;
    }
    return () => {
      removeFromIndexes(moved, cell);
      cell.row = before;
      this.#addToIndexes(moved, cell);
    };
  }

  /**
   * Adds a row to indexes.
   * @throws StorageConflict when another row has one of its unique keys. The row is in none of the
   *   indexes then.
   */
  #addToIndexes(indexes: readonly AnyIndex[], cell: RowCell): void {
    for (const [i, index] of indexes.entries()) {
      if (index.add(cell)) continue;
      removeFromIndexes(indexes.slice(0, i), cell);
      throw this.#conflict(`already has this ${index.name} key`);
    }
  }

  #addToCounter(sums: StoredRow): Undo {
    const cell = this.#primary.first(this.#keyPlaces.map((place) => sums[place] ?? null));
    if (cell === undefined) return this.#insert(sums);
    const after = cell.row.map((value, place) =>
      this.#keyPlaces.includes(place) ? value : Number(value) + Number(sums[place]),
    );
    return this.#replace(cell, after);
  }

  #conflict(what: string): StorageConflict {
    return new StorageConflict(`a row of ${this.layout.collection.name} ${what}`);
  }
}

function removeFromIndexes(indexes: readonly AnyIndex[], cell: RowCell): void {
  for (const each of indexes) each.remove(cell);
}
