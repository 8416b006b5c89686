import type { Index } from "../../../src/ports/collection.ts";
import { type Layout, orderOf, type Stored } from "../layout.ts";
import { beyond, sortKey } from "./sort-key.ts";
import { SortedList } from "./sorted-list.ts";

export type StoredRow = readonly Stored[];

/** What all indexes have of a row in common: they see its new form without being touched, where it keeps its place in them. */
export interface Kept {
  row: StoredRow;
}

/** One index of a collection: rows sorted by the index's columns, then by the primary key's. */
export class SortedIndex {
  readonly index: Index;
  readonly #places: readonly number[];
  readonly #rows = new SortedList<Kept>();
  readonly #covers: (row: StoredRow) => boolean;

  constructor(layout: Layout, index: Index) {
    this.index = index;
    this.#places = orderOf(index).map((column) => layout.place(column));
    const { where } = index;
    const place = where === undefined ? 0 : layout.place(where.column);
    if (where === undefined) this.#covers = () => true;
    else if ("in" in where) this.#covers = (row) => where.in.includes(String(row[place]));
    else this.#covers = (row) => row[place] !== null;
  }

  add(kept: Kept): void {
    if (this.#covers(kept.row)) this.#rows.set(sortKey(this.#key(kept.row)), kept);
  }

  remove({ row }: Kept): void {
    if (this.#covers(row)) this.#rows.delete(sortKey(this.#key(row)));
  }

  /** Whether both forms of a row stand in the same place, or both in none. */
  keeps(before: StoredRow, after: StoredRow): boolean {
    if (this.#covers(before) !== this.#covers(after)) return false;
    return this.#places.every((place) => before[place] === after[place]);
  }

  /** Whether a unique key is taken. As in SQL, a null differs from every other null. */
  refuses(row: StoredRow): boolean {
    if (!this.index.unique || !this.#covers(row)) return false;
    const key = this.#key(row).slice(0, this.index.columns.length);
    return !key.includes(null) && this.first(key) !== undefined;
  }

  first(prefix: StoredRow): Kept | undefined {
    const key = sortKey(prefix);
    const entry = this.#rows.firstFrom(key);
    return entry?.key.startsWith(key) === true ? entry.value : undefined;
  }

  /** Rows under `prefix`, strictly beyond `after` and strictly before `until`, in the direction of `order`. */
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
      ? this.#rows.upFrom(after === undefined ? start : start + beyond)
      : this.#rows.downFrom(after === undefined ? start + beyond : start);
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
