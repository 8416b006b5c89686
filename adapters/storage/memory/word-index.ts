import type { SearchedWord, WordIndex as WordIndexDescription } from "../../../src/ports/index.ts";
import type { Layout } from "../layout.ts";
import { type RowCell, SortedList, sortKey, type StoredRow } from "./sorted-index.ts";

/** An index of a collection's rows by the words in one column. */
export class WordIndex {
  readonly #place: number;
  readonly #keyPlaces: readonly number[];
  readonly #rows = new SortedList<RowCell>();

  constructor(layout: Layout, { column }: WordIndexDescription) {
    this.#place = layout.place(column);
    this.#keyPlaces = layout.collection.primary.columns.map((each) => layout.place(each));
  }

  add(cell: RowCell): void {
    for (const key of this.#keys(cell.row)) this.#rows.set(key, cell);
  }

  /** Whether an update leaves the row's words unchanged. */
  keepsPlace(before: StoredRow, after: StoredRow): boolean {
    return before[this.#place] === after[this.#place];
  }

  remove({ row }: RowCell): void {
    for (const key of this.#keys(row)) this.#rows.delete(key);
  }

  /** Yields the rows that have all of the words, each once. It walks the rows of the first word. */
  *search([first, ...others]: readonly SearchedWord[]): Generator<StoredRow> {
    if (first === undefined) return;
    const seen = new Set<RowCell>();
    const start = sortKey([first.word]);
    // Without its end mark, a word's key is also the beginning of the keys of longer words.
    const under = first.prefix ? start.slice(0, -endMarkLength) : start;
    for (const { key, value } of this.#rows.upFrom(under)) {
      if (!key.startsWith(under)) return;
      if (seen.has(value)) continue;
      seen.add(value);
      const { row } = value;
      const words = this.#words(row);
      if (
        others.every(({ word, prefix }) =>
          words.some((each) => (prefix ? each.startsWith(word) : each === word)),
        )
      ) {
        yield row;
      }
    }
  }

  #words(row: StoredRow): readonly string[] {
    const words = row[this.#place];
    return typeof words === "string" ? words.split(" ") : [];
  }

  #keys(row: StoredRow): string[] {
    const key = this.#keyPlaces.map((place) => row[place] ?? null);
    return this.#words(row).map((word) => sortKey([word, ...key]));
  }
}

/** The number of characters that `sortKey` puts at the end of a text. */
const endMarkLength = sortKey([""]).length - 1;
