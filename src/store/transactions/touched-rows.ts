import { getOrInsert } from "../../kernel/index.ts";
import type { Index, KeyValue, Lookup, Row, Seen } from "../../ports/index.ts";
import { matches, placeIn } from "../reads/index-order.ts";
import { KeyMap } from "./key-map.ts";

/** A row of any collection, with its version. */
export type VersionedRow = Seen<Row>;

/**
 * A row that a transaction wrote or held. If `row` is the same object as `base`, the row is only
 * held.
 */
export interface Entry {
  readonly key: readonly KeyValue[];
  /** The row as it is stored. Undefined if it is not stored. */
  readonly base: VersionedRow | undefined;
  /** The row as it will be stored. Undefined if it is removed. */
  readonly row: VersionedRow | undefined;
  /** The columns in which `row` may differ from `base`. */
  readonly changed: readonly string[];
}

export const isWritten = ({ base, row }: Entry): boolean => row !== base;

export const noEntries: readonly Entry[] = [];
export const noColumns: readonly string[] = [];

/**
 * Up to this number of rows, a linear search is faster than an index. It also takes less memory,
 * which matters if many commands that run at the same time have an overlay each.
 */
const fewRows = 8;

/** Whether a lookup is for one full primary key. */
export const isPrimaryKey = ({ index, key }: Pick<Lookup, "index" | "key">): boolean =>
  index === index.collection.primary && key.length === index.columns.length;

/** A row that was touched. Its entry is undefined once its writes were rolled back. */
interface TouchedRow {
  entry: Entry | undefined;
}

/** The change of a row's entry. `before` is undefined if the row had not been touched before. */
export interface Change {
  readonly rows: TouchedRows;
  readonly row: TouchedRow;
  readonly before: Entry | undefined;
}

/** The touched rows of one collection. If there are more than a few, they have indexes. */
export class TouchedRows {
  /** The rows that have an entry, in the order in which they were touched. */
  readonly rows: TouchedRow[] = [];
  #byKey: KeyMap<TouchedRow> | undefined;
  /** The rows by each index that was asked for. */
  #indexes: Map<Index, PlacesByLength> | undefined;

  find(key: readonly KeyValue[]): Entry | undefined {
    return (this.#byKey === undefined ? this.#search(key) : this.#byKey.get(key))?.entry;
  }

  /** Returns the entries of the rows that were written. */
  written(): Entry[] {
    const entries: Entry[] = [];
    for (const { entry } of this.rows) {
      if (entry !== undefined && isWritten(entry)) entries.push(entry);
    }
    return entries;
  }

  /** Sets the entry of a row to the one that `next` returns for the entry that it had. */
  change(key: readonly KeyValue[], next: (before: Entry | undefined) => Entry): Change {
    const row =
      this.#byKey === undefined
        ? (this.#search(key) ?? newRow())
        : this.#byKey.getOrInsert(key, newRow);
    const before = row.entry;
    this.#fill(row, next(before));
    if (before === undefined) this.#list(row);
    return { rows: this, row, before };
  }

  /** Undoes a change, once all later ones are undone. */
  undo({ row, before }: Change): void {
    // The indexes may have been built while the row was elsewhere, so its places are added again.
    if (before !== undefined) this.#fill(row, before);
    else {
      row.entry = undefined;
      this.rows.pop();
    }
  }

  /** Returns the entries whose row has this key in an index, or had it before it was written. */
  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    const matchesKey = ({ base, row }: Entry): boolean =>
      (row !== undefined && matches(index, key, row)) ||
      (base !== undefined && matches(index, key, base));
    if (isPrimaryKey({ index, key })) {
      const entry = this.find(key);
      return entry !== undefined && matchesKey(entry) ? [entry] : noEntries;
    }
    const rows =
      this.rows.length <= fewRows
        ? this.rows
        : (this.#places(index, key.length).get(key) ?? noRows);
    const found: Entry[] = [];
    // A place may list rows that have moved away or whose writes were rolled back.
    for (const { entry } of rows) {
      if (entry !== undefined && matchesKey(entry)) found.push(entry);
    }
    return found;
  }

  #search(key: readonly KeyValue[]): TouchedRow | undefined {
    for (const row of this.rows) {
      if (row.entry !== undefined && isSameKey(row.entry.key, key)) return row;
    }
    return undefined;
  }

  #list(row: TouchedRow): void {
    this.rows.push(row);
    if (this.#byKey !== undefined || this.rows.length <= fewRows) return;
    this.#byKey = new KeyMap();
    for (const each of this.rows) {
      if (each.entry !== undefined) this.#byKey.set(each.entry.key, each);
    }
  }

  #fill(row: TouchedRow, entry: Entry): void {
    row.entry = entry;
    if (this.#indexes === undefined) return;
    for (const [index, lengths] of this.#indexes) {
      for (const [length, places] of lengths) addPlaces(places, index, length, row);
    }
  }

  #places(index: Index, length: number): Places {
    this.#indexes ??= new Map<Index, PlacesByLength>();
    const lengths = getOrInsert(this.#indexes, index, () => new Map<number, Places>());
    return getOrInsert(lengths, length, () => {
      const places: Places = new KeyMap();
      for (const touched of this.rows) addPlaces(places, index, length, touched);
      return places;
    });
  }
}

/** The touched rows by their place in an index: the values of its first columns. */
type Places = KeyMap<TouchedRow[]>;
/** The places by the number of columns in a place. */
type PlacesByLength = Map<number, Places>;

function addPlaces(places: Places, index: Index, length: number, touched: TouchedRow): void {
  if (touched.entry === undefined) return;
  const { base, row } = touched.entry;
  if (row !== undefined) addPlace(places, placeIn(index, length, row), touched);
  if (base !== undefined && base !== row) addPlace(places, placeIn(index, length, base), touched);
}

function addPlace(
  places: Places,
  place: readonly KeyValue[] | undefined,
  touched: TouchedRow,
): void {
  if (place === undefined) return;
  const rows = places.get(place);
  if (rows === undefined) places.set(place, [touched]);
  else if (!rows.includes(touched)) rows.push(touched);
}

const newRow = (): TouchedRow => ({ entry: undefined });

const noRows: readonly TouchedRow[] = [];

function isSameKey(a: readonly KeyValue[], b: readonly KeyValue[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}
