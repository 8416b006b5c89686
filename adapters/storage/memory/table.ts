import {
  type Collection,
  type KeyValue,
  type Lookup,
  type Range,
  type Row,
  type Search,
  StorageConflict,
  StorageRefusal,
  type Write,
} from "../../../src/ports/index.ts";
import { type Layout, layoutOf, storedKey, storedValue, type Stored } from "../layout.ts";
import { type RowCell, SortedIndex } from "./sorted-index.ts";
import type { StoredRow } from "./sorted-list.ts";
import { WordIndex } from "./word-index.ts";

/** Undoes one write. */
export type Undo = () => void;

/** The rows of a collection, in its primary index and all other indexes. */
export class Table {
  readonly layout: Layout;
  readonly #primary: SortedIndex;
  /** By name. The first is the primary index. */
  readonly #indexes: ReadonlyMap<string, SortedIndex>;
  readonly #wordIndexes: ReadonlyMap<string, WordIndex>;
  readonly #allIndexes: readonly (SortedIndex | WordIndex)[];
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

  get({ index, key, limit }: Lookup): Row[] {
    const found = this.#index(index.name);
    if (limit !== 1) return this.#take(found.walk(storedKey(key)), () => true, limit);
    const cell = found.first(storedKey(key));
    return cell === undefined ? [] : [this.layout.decode(cell.row)];
  }

  range({ index, prefix, order, after, until, where, skip, limit }: Range): Row[] {
    const filters = Object.entries(where ?? {}).map(([column, wanted]) => {
      const place = this.layout.place(column);
      const values = new Set((isList(wanted) ? wanted : [wanted]).map(storedValue));
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
        return this.#insert(this.#encode(write.row, nextPosition));
      case "update": {
        const cell = this.#findGuarded(write.key, write.version);
        const row = [...cell.row];
        for (const column of new Set([...write.changed, "version"])) {
          const place = this.layout.place(column);
          row[place] = this.layout.encodeAt(place, write.row);
        }
        return this.#replace(cell, row);
      }
      case "remove":
        return this.#remove(this.#findGuarded(write.key, write.version));
      case "hold":
        this.#findGuarded(write.key, write.version);
        return () => {};
      case "add":
        return this.#add(this.layout.encode(write.row));
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

  #encode(row: Row, nextPosition: () => number): Stored[] {
    const { position } = this.layout;
    return this.layout.encode(
      position === undefined ? row : { ...row, [position]: nextPosition() },
    );
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
    const added: SortedIndex[] = [];
    for (const index of this.#indexes.values()) {
      if (!index.add(cell)) {
        for (const each of added) each.remove(cell);
        throw this.#conflict(`already has this ${index.index.name} key`);
      }
      added.push(index);
    }
    for (const each of this.#wordIndexes.values()) each.add(cell);
    return () => {
      for (const each of this.#allIndexes) each.remove(cell);
    };
  }

  #remove(cell: RowCell): Undo {
    for (const each of this.#allIndexes) each.remove(cell);
    return () => {
      for (const each of this.#allIndexes) each.add(cell);
    };
  }

  #replace(cell: RowCell, after: StoredRow): Undo {
    const before = cell.row;
    for (const index of this.#indexes.values()) {
      if (!index.keepsPlace(before, after) && index.isTaken(after)) {
        throw this.#conflict(`already has this ${index.index.name} key`);
      }
    }
    this.#setRow(cell, after);
    return () => this.#setRow(cell, before);
  }

  #setRow(cell: RowCell, after: StoredRow): void {
    const moved = this.#allIndexes.filter((each) => !each.keepsPlace(cell.row, after));
    for (const each of moved) each.remove(cell);
    cell.row = after;
    for (const each of moved) each.add(cell);
  }

  #add(sums: StoredRow): Undo {
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

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
