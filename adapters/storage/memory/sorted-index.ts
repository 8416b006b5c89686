import type { Index } from "../../../src/ports/index.ts";
import { type Layout, orderOf, type Stored } from "../layout.ts";

/** A row's stored values, in the order of the layout's columns. */
export type StoredRow = readonly Stored[];

/**
 * A row that all indexes share. When an update leaves a row's place in an index unchanged, the
 * index sees the new values without being touched.
 */
export interface RowCell {
  row: StoredRow;
}

/**
 * One index of a collection: its rows, sorted by the index's columns and then by the primary key's.
 */
export class SortedIndex {
  readonly index: Index;
  readonly #places: readonly number[];
  readonly #rows = new SortedList<RowCell>();
  readonly #contains: (row: StoredRow) => boolean;

  constructor(layout: Layout, index: Index) {
    this.index = index;
    this.#places = orderOf(index).map((column) => layout.place(column));
    const { where } = index;
    const place = where === undefined ? 0 : layout.place(where.column);
    if (where === undefined) this.#contains = () => true;
    else if ("in" in where) this.#contains = (row) => where.in.includes(String(row[place]));
    else this.#contains = (row) => row[place] !== null;
  }

  add(cell: RowCell): void {
    if (this.#contains(cell.row)) this.#rows.set(sortKey(this.#key(cell.row)), cell);
  }

  /**
   * Adds a row, unless another one has its unique key. Returns whether it did. Finding the key and
   * its place is one search.
   */
  addIfFree(cell: RowCell): boolean {
    if (!this.#contains(cell.row)) return true;
    const key = this.#key(cell.row);
    const unique = this.index.unique ? key.slice(0, this.index.columns.length) : [null];
    // As in SQL, a null differs from every other null.
    if (unique.includes(null)) {
      this.#rows.set(sortKey(key), cell);
      return true;
    }
    const prefix = sortKey(unique);
    return this.#rows.addUnder(prefix, prefix + sortKey(key.slice(unique.length)), cell);
  }

  remove({ row }: RowCell): void {
    if (this.#contains(row)) this.#rows.delete(sortKey(this.#key(row)));
  }

  /** Whether an update leaves the row's place in the index unchanged. */
  keepsPlace(before: StoredRow, after: StoredRow): boolean {
    if (this.#contains(before) !== this.#contains(after)) return false;
    return this.#places.every((place) => before[place] === after[place]);
  }

  /**
   * Whether another row has the unique key of `row`. As in SQL, a null differs from every other
   * null.
   */
  isTaken(row: StoredRow): boolean {
    if (!this.index.unique || !this.#contains(row)) return false;
    const key = this.#key(row).slice(0, this.index.columns.length);
    return !key.includes(null) && this.first(key) !== undefined;
  }

  first(prefix: StoredRow): RowCell | undefined {
    const key = sortKey(prefix);
    const entry = this.#rows.firstFrom(key);
    return entry?.key.startsWith(key) === true ? entry.value : undefined;
  }

  /**
   * Yields the rows whose first columns equal `prefix`, strictly beyond `after` and strictly
   * before `until`, in the direction of `order`.
   */
  *walk(
    prefix: StoredRow,
    order: "ascending" | "descending" = "ascending",
    after?: StoredRow,
    until?: StoredRow,
  ): Generator<StoredRow> {
    const under = sortKey(prefix);
    const start = under + sortKey(after ?? []);
    const end = until && under + sortKey(until);
    const ascending = order === "ascending";
    const entries = ascending
      ? this.#rows.upFrom(after === undefined ? start : start + afterPrefix)
      : this.#rows.downFrom(after === undefined ? start + afterPrefix : start);
    for (const { key, value } of entries) {
      if (!key.startsWith(under)) return;
      if (end !== undefined && (key.startsWith(end) || key > end === ascending)) return;
      yield value.row;
    }
  }

  #key(row: StoredRow): Stored[] {
    return this.#places.map((place) => row[place] ?? null);
  }
}

/**
 * The most entries in one array. Moving this many at an insertion takes less time than finding the
 * place.
 */
const maxChunkSize = 256;

interface Entry<V> {
  readonly key: string;
  readonly value: V;
}

/**
 * A sorted list of entries, in arrays of limited length. The maintained tree library for this is
 * CommonJS, and Node and the test runners import its default export differently.
 */
export class SortedList<V> {
  readonly #chunks: Entry<V>[][] = [[]];

  /** Inserts an entry, or replaces the one with the same key. */
  set(key: string, value: V): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, key);
    this.#splice(at, place, chunk[place]?.key === key ? 1 : 0, { key, value });
  }

  /**
   * Inserts an entry, unless there is one whose key begins with `prefix`. Returns whether it did.
   * `key` begins with `prefix`.
   */
  addUnder(prefix: string, key: string, value: V): boolean {
    const at = this.#chunkOf(prefix);
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, prefix);
    if (chunk[place]?.key.startsWith(prefix) === true) return false;
    // No key begins with the prefix, so its place is also that of the key.
    this.#splice(at, place, 0, { key, value });
    return true;
  }

  #splice(at: number, place: number, replaced: 0 | 1, entry: Entry<V>): void {
    const chunk = this.#chunks[at] ?? [];
    chunk.splice(place, replaced, entry);
    if (chunk.length > maxChunkSize) {
      // Appending in order leaves full arrays behind. Inserting anywhere else splits an array in
      // half.
      const half =
        at === this.#chunks.length - 1 && place === maxChunkSize ? maxChunkSize : maxChunkSize / 2;
      this.#chunks.splice(at + 1, 0, chunk.splice(half));
    }
  }

  delete(key: string): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at] ?? [];
    const place = this.#placeIn(chunk, key);
    if (chunk[place]?.key !== key) return;
    chunk.splice(place, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** Returns the first entry whose key is not below `key`. */
  firstFrom(key: string): Entry<V> | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)] ?? [];
    return chunk[this.#placeIn(chunk, key)];
  }

  /** Yields entries from `key` upwards. The list must not change meanwhile. */
  *upFrom(key: string): Generator<Entry<V>> {
    let at = this.#chunkOf(key);
    let place = this.#placeIn(this.#chunks[at] ?? [], key);
    for (; at < this.#chunks.length; at++, place = 0) {
      const chunk = this.#chunks[at] ?? [];
      for (let i = place; i < chunk.length; i++) {
        const entry = chunk[i];
        if (entry !== undefined) yield entry;
      }
    }
  }

  /** Yields entries below `key` downwards. The list must not change meanwhile. */
  *downFrom(key: string): Generator<Entry<V>> {
    let at = this.#chunkOf(key);
    let place = this.#placeIn(this.#chunks[at] ?? [], key);
    for (; at >= 0; at--, place = this.#chunks[at]?.length ?? 0) {
      const chunk = this.#chunks[at] ?? [];
      for (let i = place - 1; i >= 0; i--) {
        const entry = chunk[i];
        if (entry !== undefined) yield entry;
      }
    }
  }

  /**
   * Returns the place of the first array whose last key is not below `key`, or of the last array.
   */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last === undefined || last.key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the place of the first entry in an array whose key is not below `key`. */
  #placeIn(chunk: readonly Entry<V>[], key: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = chunk[middle];
      if (entry !== undefined && entry.key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Appended to a key, it sorts after every key that begins with that key. */
export const afterPrefix = "\u00ff";

/**
 * Returns a key as one string that sorts as the key does in SQLite: null, then numbers, then text
 * by code point. Keys with a common beginning have strings with a common beginning.
 */
export function sortKey(parts: readonly Stored[]): string {
  let key = "";
  for (const part of parts) {
    if (part === null) key += "\u0001";
    else {
      key +=
        typeof part === "number"
          ? `\u0002${sortableNumber(part)}`
          : `\u0003${sortableText(part)}\0\0`;
    }
  }
  return key;
}

const bits = new DataView(new ArrayBuffer(8));

/**
 * Returns the bytes of a double as text that sorts like the number. IEEE 754 numbers sort by their
 * bits once the sign bit is inverted and, for negative numbers, all other bits too.
 */
function sortableNumber(value: number): string {
  bits.setFloat64(0, value);
  const high = bits.getInt32(0);
  const flip = high < 0 ? -1 : 0;
  const a = high ^ (flip | 0x8000_0000);
  const b = bits.getInt32(4) ^ flip;
  return String.fromCharCode(
    (a >>> 24) & 255,
    (a >>> 16) & 255,
    (a >>> 8) & 255,
    a & 255,
    (b >>> 24) & 255,
    (b >>> 16) & 255,
    (b >>> 8) & 255,
    b & 255,
  );
}

const special = /[\0\ud800-\uffff]/;

/**
 * JavaScript compares text by 16-bit units. Surrogates, which stand for the highest code points,
 * would then sort before U+E000, so the two ranges are swapped. A NUL is escaped, because NULs mark
 * the end of the text.
 */
function sortableText(text: string): string {
  if (!special.test(text)) return text;
  let sortable = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0) sortable += "\0\u0001";
    else if (unit < 0xd800) sortable += text.charAt(i);
    else sortable += String.fromCharCode(unit >= 0xe000 ? unit - 0x800 : unit + 0x2000);
  }
  return sortable;
}
