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
import { byIndex, encodeKey, matches, placeIn } from "./keys.ts";
import { freeingFirst, type PlannedUpdate } from "./write-order.ts";

/** A row of the engine's, of whatever collection. */
export type AnySeen = Row & { readonly version: number };

/** What a transaction knows of one row: what the storage has (`base`) and what it shall have (`row`). */
export interface Entry {
  readonly key: readonly KeyValue[];
  readonly base: AnySeen | undefined;
  readonly row: AnySeen | undefined;
  /** Columns that were written since `base`. */
  readonly changed: ReadonlySet<string>;
}

/** How far the writes had come: what was written since can be taken back. */
export type Mark = number;

/** Fewer entries than this are looked through faster than they are indexed. */
const fewEntries = 8;

/** Buffered writes: of one command, or of a group of them. */
export class Overlay {
  readonly #touched = new Map<Collection, Touched>();
  readonly #sums = new Map<Collection, Map<string, Row>>();
  /** How to take back each write, in the order in which they were made. */
  readonly #journal: (() => void)[] = [];

  /** What was made of the row; `undefined` when nothing touched it. */
  find(collection: Collection, id: string): Entry | undefined {
    return this.#touched.get(collection)?.entries.get(id);
  }

  touches(collection: Collection): boolean {
    return this.#touched.has(collection);
  }

  /** The entries whose row stands in an index under a key, or did before it was written. */
  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    return this.#touched.get(index.collection)?.under(index, key) ?? none;
  }

  put(collection: Collection, id: string, entry: Entry): void {
    let touched = this.#touched.get(collection);
    if (touched === undefined) this.#touched.set(collection, (touched = new Touched()));
    const before = touched.put(id, entry);
    this.#journal.push(() => touched.restore(id, before));
  }

  add(collection: Collection, row: Row): void {
    let sums = this.#sums.get(collection);
    if (sums === undefined) this.#sums.set(collection, (sums = new Map<string, Row>()));
    const id = encodeKey(keyOf(collection, row));
    const sum = sums.get(id);
    sums.set(id, sum === undefined ? row : plus(collection, sum, row));
    this.#journal.push(() => (sum === undefined ? sums.delete(id) : sums.set(id, sum)));
  }

  mark(): Mark {
    return this.#journal.length;
  }

  takeBack(to: Mark): void {
    while (this.#journal.length > to) this.#journal.pop()?.();
  }

  /**
   * Takes over what another one has, whose transaction saw nothing of what this one has.
   * Answers false, and takes nothing, when both made the same row, or saw it in different versions.
   */
  merge(other: Overlay): boolean {
    for (const [collection, { entries }] of other.#touched) {
      for (const [id, entry] of entries) {
        const own = this.find(collection, id);
        // What one only holds the other may hold or write, where both saw the same version.
        if (own !== undefined && (isWritten(own) || own.base?.version !== entry.base?.version)) {
          return false;
        }
      }
    }
    for (const [collection, { entries }] of other.#touched) {
      for (const [id, entry] of entries) this.put(collection, id, entry);
    }
    for (const [collection, sums] of other.#sums) {
      for (const row of sums.values()) this.add(collection, row);
    }
    return true;
  }

  /** Whether a look-up may answer otherwise than the storage does. */
  writesUnder({ index, key }: Lookup): boolean {
    return this.under(index, key).some(isWritten);
  }

  /** One write for each row. What frees a unique key comes before what takes it: removals, updates, insertions. */
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
      ...freeingFirst(updates).map(({ write }) => write),
      ...insertions,
    ];
  }
}

/** Whether a look-up names one row by its whole primary key. */
export const isPrimaryKey = ({ index, key }: Pick<Lookup, "index" | "key">): boolean =>
  index === index.collection.primary && key.length === index.columns.length;

/** How many rows of the storage a look-up must read, so that enough are left when the overlay is laid over them. */
export function mostToRead({ index, key, limit }: Lookup, overlay: Overlay): number {
  // Under a whole unique key there is one at most.
  return limit === 1 && index.unique && key.length === index.columns.length
    ? 1
    : limit + overlay.under(index, key).length;
}

/**
 * The rows of a look-up as they are after the writes that are buffered.
 * @throws StorageConflict when too few were read to tell
 */
export function laidOver(
  stored: readonly AnySeen[],
  lookup: Lookup,
  overlay: Overlay,
): readonly AnySeen[] {
  const { index, key, limit } = lookup;
  const { collection } = index;
  if (!overlay.touches(collection)) return stored;
  const entries = overlay.under(index, key);
  if (stored.length === 0 && entries.length === 0) return stored;
  // Also what stands elsewhere by now: the overlay's form of a row is the one that this transaction knows.
  const rows = stored.filter(
    (row) => overlay.find(collection, encodeKey(keyOf(collection, row))) === undefined,
  );
  // The overlay knows one of them from another moment, at which it stood elsewhere: what takes its place here was not read.
  if (rows.length < limit && stored.length >= limit + entries.length) {
    throw new StorageConflict(`a row of ${collection.name} was moved between two reads`);
  }
  for (const { row } of entries) {
    if (row !== undefined && matches(index, key, row)) rows.push(row);
  }
  return entries.length > 0 ? rows.toSorted(byIndex(index)).slice(0, limit) : rows;
}

/** The rows of one collection that were touched, found by primary key and, where it is asked, by index. */
class Touched {
  readonly entries = new Map<string, Entry>();
  readonly #indexes = new Map<Index, PlacesByLength>();

  put(id: string, entry: Entry): Entry | undefined {
    const before = this.entries.get(id);
    this.entries.set(id, entry);
    for (const [index, lengths] of this.#indexes) {
      for (const [length, places] of lengths) note(places, index, length, id, entry);
    }
    return before;
  }

  restore(id: string, before: Entry | undefined): void {
    if (before === undefined) this.entries.delete(id);
    else this.entries.set(id, before);
  }

  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    const stands = ({ base, row }: Entry): boolean =>
      (row !== undefined && matches(index, key, row)) ||
      (base !== undefined && matches(index, key, base));
    if (isPrimaryKey({ index, key })) {
      const entry = this.entries.get(encodeKey(key));
      return entry !== undefined && stands(entry) ? [entry] : none;
    }
    if (this.entries.size < fewEntries) return [...this.entries.values()].filter(stands);
    const found: Entry[] = [];
    // A place may name rows that have left it, or that were taken back.
    for (const id of this.#places(index, key.length).get(encodeKey(key)) ?? []) {
      const entry = this.entries.get(id);
      if (entry !== undefined && stands(entry)) found.push(entry);
    }
    return found;
  }

  #places(index: Index, length: number): Places {
    let lengths = this.#indexes.get(index);
    if (lengths === undefined) this.#indexes.set(index, (lengths = new Map<number, Places>()));
    let places = lengths.get(length);
    if (places === undefined) {
      lengths.set(length, (places = new Map<string, Set<string>>()));
      for (const [id, entry] of this.entries) note(places, index, length, id, entry);
    }
    return places;
  }
}

/** The ids of rows by their place in an index. */
type Places = Map<string, Set<string>>;
type PlacesByLength = Map<number, Places>;

function note(
  places: Places,
  index: Index,
  length: number,
  id: string,
  { base, row }: Entry,
): void {
  const place = row && placeIn(index, length, row);
  const before = base && base !== row ? placeIn(index, length, base) : undefined;
  if (place !== undefined) noteAt(places, place, id);
  if (before !== undefined && before !== place) noteAt(places, before, id);
}

function noteAt(places: Places, place: string, id: string): void {
  const ids = places.get(place);
  if (ids === undefined) places.set(place, new Set([id]));
  else ids.add(id);
}

const none: readonly Entry[] = [];

export const unchanged: ReadonlySet<string> = new Set();

const isWritten = ({ base, row }: Entry): boolean => row !== base;

function plus(collection: Collection, sum: Row, row: Row): Row {
  const total: Record<string, unknown> = { ...sum };
  for (const column of Object.keys(row)) {
    if (!collection.primary.columns.includes(column)) {
      total[column] = Number(sum[column]) + Number(row[column]);
    }
  }
  return total;
}
