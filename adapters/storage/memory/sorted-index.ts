import { orderOf, type Index } from "../../../src/ports/index.ts";
import type { Layout } from "../layout.ts";
import { SortedList, type StoredRow } from "./sorted-list.ts";

/**
 * A row that all indexes share. An index in which an update does not move the row sees the new
 * values without being touched.
 */
export interface RowCell {
  row: StoredRow;
}

/**
 * One index of a collection: its rows, sorted by the index's columns and then by the primary key's.
 */
export class SortedIndex {
  readonly name: string;
  /** The places of the columns that order the index. */
  readonly #places: readonly number[];
  /** The places of the columns of the unique key. Empty if the index is not unique. */
  readonly #keyPlaces: readonly number[];
  readonly #rows: SortedList<RowCell>;
  readonly #contains: (row: StoredRow) => boolean;

  constructor(layout: Layout, index: Index) {
    this.name = index.name;
    this.#places = orderOf(index).map((column) => layout.place(column));
    this.#keyPlaces = index.unique ? this.#places.slice(0, index.columns.length) : [];
    this.#rows = new SortedList(this.#places);
    const { where } = index;
    const place = where === undefined ? 0 : layout.place(where.column);
    if (where === undefined) this.#contains = () => true;
    else if ("in" in where) this.#contains = (row) => where.in.includes(String(row[place]));
    else this.#contains = (row) => row[place] !== null;
  }

  /** Adds a row, unless another one has its unique key. Returns whether it did. */
  add(cell: RowCell): boolean {
    if (!this.#contains(cell.row)) return true;
    // As in SQL, a null differs from every other null.
    const isUnique =
      this.#keyPlaces.length > 0 && this.#keyPlaces.every((place) => cell.row[place] !== null);
    return this.#rows.insert(cell, (isUnique ? this.#keyPlaces : this.#places).length);
  }

  remove(cell: RowCell): void {
    if (this.#contains(cell.row)) this.#rows.delete(cell);
  }

  /** Whether an update of the row changes if or where the index has it. */
  mustMove(before: StoredRow, after: StoredRow): boolean {
    const isInside = this.#contains(before);
    if (isInside !== this.#contains(after)) return true;
    return isInside && this.#places.some((place) => before[place] !== after[place]);
  }

  /** Returns the first row whose first columns equal `prefix`. */
  first(prefix: StoredRow): RowCell | undefined {
    return this.#rows.first(prefix);
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
    const start = [...prefix, ...(after ?? [])];
    const end = until && [...prefix, ...until];
    const sign = order === "ascending" ? 1 : -1;
    for (const { row } of this.#rows.from(start, order, after === undefined)) {
      if (this.#rows.compareStart(row, prefix) !== 0) return;
      if (end !== undefined && sign * this.#rows.compareStart(row, end) >= 0) return;
      yield row;
    }
  }
}
