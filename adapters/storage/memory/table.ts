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
import { type Kept, SortedIndex, type StoredRow } from "./sorted-index.ts";
import { WordList } from "./word-list.ts";

/** Takes one write back. */
export type Undo = () => void;

/** A collection in memory: stored rows under the primary key and under each index. */
export class Table {
  readonly layout: Layout;
  readonly #primary: SortedIndex;
  /** The primary first. */
  readonly #indexes: ReadonlyMap<string, SortedIndex>;
  readonly #words: ReadonlyMap<string, WordList>;
  readonly #everywhere: readonly (SortedIndex | WordList)[];
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
    this.#words = new Map(
      collection.wordIndexes.map((index) => [index.name, new WordList(this.layout, index)]),
    );
    this.#everywhere = [...this.#indexes.values(), ...this.#words.values()];
    this.#keyPlaces = collection.primary.columns.map((column) => this.layout.place(column));
  }

  get({ index, key, limit }: Lookup): Row[] {
    const found = this.#index(index.name);
    if (limit !== 1) return this.#take(found.walk(storedKey(key)), () => true, limit);
    const kept = found.first(storedKey(key));
    return kept === undefined ? [] : [this.layout.decode(kept.row)];
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
    if (found === undefined) {
      throw new TypeError(`${this.layout.collection.name} has no words ${index.name}`);
    }
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
        const kept = this.#guarded(write.key, write.version);
        const row = [...kept.row];
        for (const column of new Set([...write.changed, "version"])) {
          const place = this.layout.place(column);
          row[place] = this.layout.encodeAt(place, write.row);
        }
        return this.#replace(kept, row);
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

  #guarded(key: readonly KeyValue[], version: number): Kept {
    const kept = this.#primary.first(storedKey(key));
    if (kept === undefined) throw this.#conflict("is gone");
    const { versioned } = this.layout;
    if (versioned && kept.row[this.layout.place("version")] !== version) {
      throw this.#conflict("was written meanwhile");
    }
    return kept;
  }

  #insert(row: StoredRow): Undo {
    if (this.#keyPlaces.some((place) => row[place] === null)) {
      throw new StorageRefusal(`the key of ${this.layout.collection.name} can't be null`);
    }
    for (const index of this.#indexes.values()) {
      if (index.refuses(row)) throw this.#conflict(`has this ${index.index.name} key`);
    }
    const kept = { row };
    for (const each of this.#everywhere) each.add(kept);
    return () => {
      for (const each of this.#everywhere) each.remove(kept);
    };
  }

  #remove(kept: Kept): Undo {
    for (const each of this.#everywhere) each.remove(kept);
    return () => {
      for (const each of this.#everywhere) each.add(kept);
    };
  }

  #replace(kept: Kept, after: StoredRow): Undo {
    const before = kept.row;
    for (const index of this.#indexes.values()) {
      if (!index.keeps(before, after) && index.refuses(after)) {
        throw this.#conflict(`has this ${index.index.name} key`);
      }
    }
    this.#exchange(kept, after);
    return () => this.#exchange(kept, before);
  }

  #exchange(kept: Kept, after: StoredRow): void {
    const moved = this.#everywhere.filter((each) => !each.keeps(kept.row, after));
    for (const each of moved) each.remove(kept);
    kept.row = after;
    for (const each of moved) each.add(kept);
  }

  #add(sums: StoredRow): Undo {
    const kept = this.#primary.first(this.#keyPlaces.map((place) => sums[place] ?? null));
    if (kept === undefined) return this.#insert(sums);
    const after = kept.row.map((value, place) =>
      this.#keyPlaces.includes(place) ? value : Number(value) + Number(sums[place]),
    );
    return this.#replace(kept, after);
  }

  #conflict(what: string): StorageConflict {
    return new StorageConflict(`a row of ${this.layout.collection.name} ${what}`);
  }
}

function isList(wanted: KeyValue | readonly KeyValue[]): wanted is readonly KeyValue[] {
  return Array.isArray(wanted);
}
