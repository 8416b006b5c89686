import type { Collection, KeyValue } from "../../../src/ports/collection.ts";
import {
  type Lookup,
  type Range,
  type Row,
  type Search,
  StorageConflict,
  StorageRefusal,
  type Write,
} from "../../../src/ports/storage.ts";
import { type Layout, layoutOf, storedKey, storedValue, type Stored } from "../layout.ts";
import { SortedIndex, type StoredRow } from "./sorted-index.ts";
import { WordList } from "./word-list.ts";

/** Takes one write back. */
export type Undo = () => void;

/** A collection in memory: stored rows under the primary key and under each index. */
export class Table {
  readonly layout: Layout;
  readonly #primary: SortedIndex;
  readonly #indexes: ReadonlyMap<string, SortedIndex>;
  /** The primary first. */
  readonly #all: readonly SortedIndex[];
  readonly #words: ReadonlyMap<string, WordList>;
  readonly #keyPlaces: readonly number[];

  constructor(collection: Collection) {
    this.layout = layoutOf(collection);
    this.#primary = new SortedIndex(this.layout, collection.primary);
    this.#indexes = new Map(collection.indexes.map((index) => [index.name, new SortedIndex(this.layout, index)]));
    this.#all = [this.#primary, ...this.#indexes.values()];
    this.#words = new Map(collection.wordIndexes.map((index) => [index.name, new WordList(this.layout, index)]));
    this.#keyPlaces = collection.primary.columns.map((column) => this.layout.place(column));
  }

  get(lookup: Lookup): Row[] {
    return this.#take(this.#index(lookup.index.name).walk(storedKey(lookup.key)), () => true, lookup.limit);
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
    const found = this.#words.get(index.name);
    if (found === undefined) throw new TypeError(`${this.layout.collection.name} has no words ${index.name}`);
    return this.#take(found.search(words), () => true, limit);
  }

  /** Every row, for moving them into another table. */
  all(): Row[] {
    return this.#take(this.#primary.walk([]), () => true, Number.POSITIVE_INFINITY);
  }

  /** Puts a row back as it was, its position and version included. */
  restore(row: Row): void {
    this.#insert(this.layout.encode(row));
  }

  /** @throws StorageConflict, StorageRefusal: the table is as it was */
  apply(write: Write, nextPosition: () => number): Undo {
    switch (write.kind) {
      case "insert":
        return this.#insert(this.#encode(write.row, nextPosition));
      case "update": {
        const before = this.#guarded(write.key, write.version);
        const row = [...before];
        for (const column of new Set([...write.changed, "version"])) {
          const place = this.layout.place(column);
          row[place] = this.layout.encodeAt(place, write.row);
        }
        return this.#replace(before, row);
      }
      case "remove":
        return this.#remove(this.#guarded(write.key, write.version));
      case "hold":
        this.#guarded(write.key, write.version);
        return () => {};
      case "add":
        return this.#add(this.layout.encode(write.row));
    }
  }

  #index(name: string): SortedIndex {
    const index = name === "primary" ? this.#primary : this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`${this.layout.collection.name} has no index ${name}`);
    return index;
  }

  #take(walk: Iterable<StoredRow>, passes: (row: StoredRow) => boolean, limit: number, skip = 0): Row[] {
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
    return this.layout.encode(position === undefined ? row : { ...row, [position]: nextPosition() });
  }

  #guarded(key: readonly KeyValue[], version: number): StoredRow {
    const row = this.#primary.first(storedKey(key));
    if (row === undefined) throw this.#conflict("is gone");
    const { versioned } = this.layout;
    if (versioned && row[this.layout.place("version")] !== version) throw this.#conflict("was written meanwhile");
    return row;
  }

  #insert(row: StoredRow): Undo {
    if (this.#keyPlaces.some((place) => row[place] === null)) {
      throw new StorageRefusal(`the key of ${this.layout.collection.name} can't be null`);
    }
    for (const index of this.#all) if (index.refuses(row)) throw this.#conflict(`has this ${index.index.name} key`);
    for (const index of this.#everywhere()) index.add(row);
    return () => {
      for (const index of this.#everywhere()) index.remove(row);
    };
  }

  #remove(row: StoredRow): Undo {
    for (const index of this.#everywhere()) index.remove(row);
    return () => {
      for (const index of this.#everywhere()) index.add(row);
    };
  }

  *#everywhere(): Generator<SortedIndex | WordList> {
    yield* this.#all;
    yield* this.#words.values();
  }

  /** Only indexes in which the row moves are touched; in the others it is exchanged. */
  #replace(before: StoredRow, after: StoredRow): Undo {
    for (const index of this.#all) {
      if (!index.keeps(before, after) && index.refuses(after)) throw this.#conflict(`has this ${index.index.name} key`);
    }
    this.#exchange(before, after);
    return () => this.#exchange(after, before);
  }

  #exchange(before: StoredRow, after: StoredRow): void {
    for (const index of this.#all) {
      if (!index.keeps(before, after)) index.remove(before);
      index.add(after);
    }
    for (const words of this.#words.values()) {
      words.remove(before);
      words.add(after);
    }
  }

  #add(sums: StoredRow): Undo {
    const before = this.#primary.first(this.#keyPlaces.map((place) => sums[place] ?? null));
    if (before === undefined) return this.#insert(sums);
    const after = before.map((value, place) =>
      this.#keyPlaces.includes(place) ? value : Number(value) + Number(sums[place]),
    );
    return this.#replace(before, after);
  }

  #conflict(what: string): StorageConflict {
    return new StorageConflict(`a row of ${this.layout.collection.name} ${what}`);
  }
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
