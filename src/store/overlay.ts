import {
  type Collection,
  type Index,
  keyOf,
  type KeyValue,
  type Lookup,
  type Row,
  StorageConflict,
  type Write,
} from "../ports/index.ts";
import { byIndex, encodeKey, matches, orderUpdates, placeIn, type PlannedUpdate } from "./keys.ts";

/** A row with its version, of any collection. */
export type AnySeen = Row & { readonly version: number };

/**
 * A row that a transaction wrote or held. If `row` is the same object as `base`, the row is only
 * held.
 */
export interface Entry {
  readonly key: readonly KeyValue[];
  /** The row as it is stored. Undefined if it is not stored. */
  readonly base: AnySeen | undefined;
  /** The row as it will be stored. Undefined if it is removed. */
  readonly row: AnySeen | undefined;
  /** The columns in which `row` may differ from `base`. */
  readonly changed: ReadonlySet<string>;
}

/** A position in the journal. Later writes can be rolled back. */
type Mark = number;

/** Below this number of entries, a linear search is faster than an index. */
const fewEntries = 8;

/** The buffered writes of one command or of a group of commands. */
export class Overlay {
  readonly #touched = new Map<Collection, Touched>();
  /** What is added to counters, by primary key. */
  readonly #sums = new Map<Collection, Map<string, Row>>();
  /** A function for each write that undoes it, in the order of the writes. */
  readonly #journal: (() => void)[] = [];

  /** Returns the entry of a row, or undefined if nothing touched the row. */
  find(collection: Collection, id: string): Entry | undefined {
    return this.#touched.get(collection)?.entries.get(id);
  }

  /** Whether any row of a collection was touched. */
  touches(collection: Collection): boolean {
    return this.#touched.has(collection);
  }

  /** Returns the entries whose row has this key in an index, or had it before it was written. */
  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    return this.#touched.get(index.collection)?.under(index, key) ?? noEntries;
  }

  /** Yields the entries of the rows of a collection that were written, by encoded primary key. */
  *written(collection: Collection): Generator<readonly [id: string, entry: Entry]> {
    for (const each of this.#touched.get(collection)?.entries ?? []) {
      if (isWritten(each[1])) yield each;
    }
  }

  put(collection: Collection, id: string, entry: Entry): void {
    let touched = this.#touched.get(collection);
    if (touched === undefined) this.#touched.set(collection, (touched = new Touched()));
    const before = touched.put(id, entry);
    this.#journal.push(() => touched.restore(id, before));
  }

  /** Adds the values of `row` to the counter under its primary key. */
  add(collection: Collection, row: Row): void {
    this.#add(collection, encodeKey(keyOf(collection, row)), row);
  }

  #add(collection: Collection, id: string, row: Row): void {
    let sums = this.#sums.get(collection);
    if (sums === undefined) this.#sums.set(collection, (sums = new Map<string, Row>()));
    const sum = sums.get(id);
    sums.set(id, sum === undefined ? row : plus(collection, sum, row));
    this.#journal.push(() => (sum === undefined ? sums.delete(id) : sums.set(id, sum)));
  }

  /** Returns the current position in the journal. */
  mark(): Mark {
    return this.#journal.length;
  }

  /** Undoes the writes after a position in the journal. */
  rollBack(to: Mark): void {
    while (this.#journal.length > to) this.#journal.pop()?.();
  }

  /**
   * Adds the writes of another overlay, whose transaction has not read this one's writes. Returns
   * false and adds nothing if this overlay wrote a row that the other one touched, or if they read
   * different versions of a row.
   */
  merge(other: Overlay): boolean {
    for (const [collection, { entries }] of other.#touched) {
      for (const [id, entry] of entries) {
        const own = this.find(collection, id);
        // A row that this overlay only holds may be held or written by the other, at the same
        // version.
        if (own !== undefined && (isWritten(own) || own.base?.version !== entry.base?.version)) {
          return false;
        }
      }
    }
    for (const [collection, { entries }] of other.#touched) {
      for (const [id, entry] of entries) this.put(collection, id, entry);
    }
    for (const [collection, sums] of other.#sums) {
      for (const [id, row] of sums) this.#add(collection, id, row);
    }
    return true;
  }

  /** Whether the buffered writes may change the result of a lookup. */
  writesUnder({ index, key }: Lookup): boolean {
    return this.under(index, key).some(isWritten);
  }

  /**
   * Returns one write for each row. Writes that free a unique key come before those that take it.
   */
  writes(): Write[] {
    const removals: Write[] = [];
    const holds: Write[] = [];
    const updates: PlannedUpdate[] = [];
    const insertions: Write[] = [];
    for (const [collection, { entries }] of this.#touched) {
      for (const { key, base, row, changed } of entries.values()) {
        if (base === undefined) {
          if (row !== undefined) insertions.push({ kind: "insert", collection, row });
        } else if (row === undefined) {
          removals.push({ kind: "remove", collection, key, version: base.version });
        } else if (row === base) {
          holds.push({ kind: "hold", collection, key, version: base.version });
        } else {
          const write = {
            kind: "update",
            collection,
            key,
            version: base.version,
            row,
            changed: [...changed],
          } as const;
          updates.push({ write, base });
        }
      }
    }
    for (const [collection, sums] of this.#sums) {
      for (const row of sums.values()) insertions.push({ kind: "add", collection, row });
    }
    return [
      ...removals,
      ...holds,
      ...orderUpdates(updates).map(({ write }) => write),
      ...insertions,
    ];
  }
}

/** Whether a lookup is for one full primary key. */
export const isPrimaryKey = ({ index, key }: Pick<Lookup, "index" | "key">): boolean =>
  index === index.collection.primary && key.length === index.columns.length;

/** Returns how many stored rows a lookup must read, so that enough remain after `withOverlay`. */
export function rowsToRead({ index, key, limit }: Lookup, overlay: Overlay): number {
  // A full unique key has at most one row.
  return limit === 1 && index.unique && key.length === index.columns.length
    ? 1
    : limit + overlay.under(index, key).length;
}

/**
 * Applies the buffered writes to the stored rows of a lookup.
 * @throws StorageConflict when too few rows were read to determine the result
 */
export function withOverlay(
  stored: readonly AnySeen[],
  lookup: Lookup,
  overlay: Overlay,
): readonly AnySeen[] {
  const { index, key, limit } = lookup;
  const { collection } = index;
  if (!overlay.touches(collection)) return stored;
  const entries = overlay.under(index, key);
  if (stored.length === 0 && entries.length === 0) return stored;
  // Drops rows that the overlay has too, since its version of a row is the one to return.
  const rows = stored.filter(
    (row) => overlay.find(collection, encodeKey(keyOf(collection, row))) === undefined,
  );
  // Another process moved a row here after the overlay read it under another key. The row that
  // would replace it in the result was not read.
  if (rows.length < limit && stored.length >= limit + entries.length) {
    throw new StorageConflict(`${collection.name}: a row changed its key between two reads`);
  }
  for (const { row } of entries) {
    if (row !== undefined && matches(index, key, row)) rows.push(row);
  }
  return entries.length > 0 ? rows.toSorted(byIndex(index)).slice(0, limit) : rows;
}

/** The touched rows of one collection, by primary key and by each index that was asked for. */
class Touched {
  readonly entries = new Map<string, Entry>();
  readonly #indexes = new Map<Index, PlacesByLength>();

  put(id: string, entry: Entry): Entry | undefined {
    const before = this.entries.get(id);
    this.entries.set(id, entry);
    for (const [index, lengths] of this.#indexes) {
      for (const [length, places] of lengths) addPlaces(places, index, length, id, entry);
    }
    return before;
  }

  restore(id: string, before: Entry | undefined): void {
    if (before === undefined) this.entries.delete(id);
    // The indexes may have been built while the row was elsewhere, so its places are added again.
    else this.put(id, before);
  }

  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    const matchesKey = ({ base, row }: Entry): boolean =>
      (row !== undefined && matches(index, key, row)) ||
      (base !== undefined && matches(index, key, base));
    if (isPrimaryKey({ index, key })) {
      const entry = this.entries.get(encodeKey(key));
      return entry !== undefined && matchesKey(entry) ? [entry] : noEntries;
    }
    if (this.entries.size < fewEntries) return [...this.entries.values()].filter(matchesKey);
    const found: Entry[] = [];
    // A place may list rows that have moved away or whose writes were rolled back.
    for (const id of this.#places(index, key.length).get(encodeKey(key)) ?? []) {
      const entry = this.entries.get(id);
      if (entry !== undefined && matchesKey(entry)) found.push(entry);
    }
    return found;
  }

  #places(index: Index, length: number): Places {
    let lengths = this.#indexes.get(index);
    if (lengths === undefined) this.#indexes.set(index, (lengths = new Map<number, Places>()));
    let places = lengths.get(length);
    if (places === undefined) {
      lengths.set(length, (places = new Map<string, Set<string>>()));
      for (const [id, entry] of this.entries) addPlaces(places, index, length, id, entry);
    }
    return places;
  }
}

/**
 * The ids of rows by their place in an index: the encoded values of its first columns. An id is an
 * encoded primary key.
 */
type Places = Map<string, Set<string>>;
/** The places by the number of columns in a place. */
type PlacesByLength = Map<number, Places>;

function addPlaces(
  places: Places,
  index: Index,
  length: number,
  id: string,
  { base, row }: Entry,
): void {
  const place = row && placeIn(index, length, row);
  const before = base && base !== row ? placeIn(index, length, base) : undefined;
  if (place !== undefined) addPlace(places, place, id);
  if (before !== undefined && before !== place) addPlace(places, before, id);
}

function addPlace(places: Places, place: string, id: string): void {
  const ids = places.get(place);
  if (ids === undefined) places.set(place, new Set([id]));
  else ids.add(id);
}

const noEntries: readonly Entry[] = [];

export const noColumns: ReadonlySet<string> = new Set();

const isWritten = ({ base, row }: Entry): boolean => row !== base;

function plus(collection: Collection, sum: Row, row: Row): Row {
  const total: Record<string, unknown> = { ...sum };
  const { columns } = collection.primary;
  for (const column of Object.keys(row)) {
    const amount = row[column];
    // Most amounts of a wide counter are zero.
    if (amount === 0 || columns.includes(column)) continue;
    total[column] = Number(sum[column]) + Number(amount);
  }
  return total;
}
