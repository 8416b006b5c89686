import { compareValues } from "../../../src/ports/index.ts";
import type { Stored } from "../layout.ts";

/** A row's stored values, in the order of the layout's columns. */
export type StoredRow = readonly Stored[];

/** The most entries in one array. Moving this many takes less time than a search. */
const maxChunkSize = 256;

/**
 * A point in the order: before the rows whose first columns have some values, or beyond them. The
 * values are those of a row, or of a key.
 */
interface Point {
  readonly values: StoredRow;
  /** The places of the columns in `values`. */
  readonly places: readonly number[];
  /** How many of the columns count. */
  readonly columnCount: number;
  readonly side: "before" | "beyond";
}

/**
 * A list of rows that is sorted by some of their columns, in arrays of limited length. The
 * maintained tree library for this is CommonJS, and Node and the test runners import its default
 * export differently.
 *
 * Rows are compared value by value, so the list keeps nothing but the rows. Values that neighbors
 * share are usually the same string object, which is cheap to compare.
 */
export class SortedList<E extends { readonly row: StoredRow }> {
  readonly #chunks: E[][] = [[]];
  /** The places of the columns in a row. No two rows have the same values in all of them. */
  readonly #places: readonly number[];
  /** The places of the columns in a key, which has their values in order: 0, 1, 2, … */
  readonly #keyPlaces: readonly number[];
  /** Where `#seek` moved last: the number of the array, and the number of the entry in it. */
  #chunkNumber = 0;
  #entryNumber = 0;

  constructor(places: readonly number[]) {
    this.#places = places;
    this.#keyPlaces = places.map((_, place) => place);
  }

  /**
   * Inserts an entry, unless the list has one with the same values in the first
   * `columnCount` columns. Returns whether it did.
   */
  insert(entry: E, columnCount = this.#places.length): boolean {
    const point = this.#beforeRow(entry.row, columnCount);
    const found = this.#seek(point);
    if (found && this.#compare(found.row, point) === 0) return false;
    const chunk = this.#chunks[this.#chunkNumber] ?? [];
    if (this.#entryNumber === chunk.length) chunk.push(entry);
    else chunk.splice(this.#entryNumber, 0, entry);
    if (chunk.length > maxChunkSize) this.#split();
    return true;
  }

  delete({ row }: E): void {
    const point = this.#beforeRow(row, this.#places.length);
    const found = this.#seek(point);
    if (!found || this.#compare(found.row, point) !== 0) return;
    const chunk = this.#chunks[this.#chunkNumber] ?? [];
    chunk.splice(this.#entryNumber, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(this.#chunkNumber, 1);
  }

  /** Returns the first entry whose first columns equal `key`. */
  first(key: StoredRow): E | undefined {
    const point = this.#atKey(key, "before");
    const entry = this.#seek(point);
    return entry && this.#compare(entry.row, point) === 0 ? entry : undefined;
  }

  /**
   * Yields entries in an order, from those whose first columns equal `key`, or from the next ones
   * if not `inclusive`. The list must not change meanwhile.
   */
  *from(key: StoredRow, order: "ascending" | "descending", inclusive: boolean): Generator<E> {
    const ascending = order === "ascending";
    this.#seek(this.#atKey(key, ascending === inclusive ? "before" : "beyond"));
    let start = this.#entryNumber;
    if (ascending) {
      for (let n = this.#chunkNumber; n < this.#chunks.length; n++, start = 0) {
        const chunk = this.#chunks[n] ?? [];
        for (let i = start; i < chunk.length; i++) {
          const entry = chunk[i];
          if (entry) yield entry;
        }
      }
    } else {
      for (let n = this.#chunkNumber; n >= 0; n--, start = this.#chunks[n]?.length ?? 0) {
        const chunk = this.#chunks[n] ?? [];
        for (let i = start - 1; i >= 0; i--) {
          const entry = chunk[i];
          if (entry) yield entry;
        }
      }
    }
  }

  /** Compares the first columns of a row with a key. */
  compareStart(row: StoredRow, key: StoredRow): number {
    return this.#compare(row, this.#atKey(key, "before"));
  }

  #beforeRow(values: StoredRow, columnCount: number): Point {
    return { values, places: this.#places, columnCount, side: "before" };
  }

  #atKey(values: StoredRow, side: Point["side"]): Point {
    return { values, places: this.#keyPlaces, columnCount: values.length, side };
  }

  /**
   * Moves to the first entry that is not before a point, and returns it. Rows are usually read and
   * written in the order of their keys, or one of them several times. So the entry is often the
   * last one that was found or the next, and is searched for only if it is not.
   */
  #seek(point: Point): E | undefined {
    if (!this.#seekNearby(point)) {
      this.#chunkNumber = this.#chunkNumberOf(point);
      this.#entryNumber = this.#entryNumberIn(this.#chunks[this.#chunkNumber], point);
    }
    return this.#chunks[this.#chunkNumber]?.[this.#entryNumber];
  }

  /** Does what `#seek` does if that moves by at most one entry. Returns whether it does. */
  #seekNearby(point: Point): boolean {
    const chunk = this.#chunks[this.#chunkNumber] ?? [];
    const isLast = this.#chunkNumber === this.#chunks.length - 1;
    const entry = chunk[this.#entryNumber];
    if (entry && this.#isBefore(entry.row, point)) {
      const next = chunk[this.#entryNumber + 1];
      if (next ? this.#isBefore(next.row, point) : !isLast) return false;
      this.#entryNumber++;
      return true;
    }
    if (!entry && !isLast) return false;
    const previous = chunk[this.#entryNumber - 1];
    return previous ? this.#isBefore(previous.row, point) : this.#chunkNumber === 0;
  }

  /**
   * Splits the array that `#seek` found, which is too long. Appending in order leaves full arrays
   * behind. Inserting anywhere else splits an array in half.
   */
  #split(): void {
    const isAppended =
      this.#chunkNumber === this.#chunks.length - 1 && this.#entryNumber === maxChunkSize;
    const kept = isAppended ? maxChunkSize : maxChunkSize / 2;
    this.#chunks.splice(
      this.#chunkNumber + 1,
      0,
      this.#chunks[this.#chunkNumber]?.splice(kept) ?? [],
    );
  }

  /** Returns the number of the first array that does not end before the point, or of the last. */
  #chunkNumberOf(point: Point): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (!last || this.#isBefore(last.row, point)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns how many entries of an array are before the point. */
  #entryNumberIn(chunk: readonly E[] = [], point: Point): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = chunk[middle];
      if (entry && this.#isBefore(entry.row, point)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(row: StoredRow, point: Point): boolean {
    const difference = this.#compare(row, point);
    return difference < 0 || (difference === 0 && point.side === "beyond");
  }

  /** Compares the first columns of a row with the values of a point. */
  #compare(row: StoredRow, { values, places, columnCount }: Point): number {
    for (let i = 0; i < columnCount; i++) {
      const a = row[this.#places[i] ?? 0] ?? null;
      const b = values[places[i] ?? 0] ?? null;
      if (a !== b) return compareValues(a, b);
    }
    return 0;
  }
}
