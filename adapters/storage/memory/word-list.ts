import type { WordIndex } from "../../../src/ports/collection.ts";
import type { SearchedWord } from "../../../src/ports/storage.ts";
import type { Layout } from "../layout.ts";
import { sortKey } from "./sort-key.ts";
import type { Kept, StoredRow } from "./sorted-index.ts";
import { SortedList } from "./sorted-list.ts";

/** The rows of a collection under each of their words. */
export class WordList {
  readonly #place: number;
  readonly #keyPlaces: readonly number[];
  readonly #rows = new SortedList<Kept>();

  constructor(layout: Layout, { column }: WordIndex) {
    this.#place = layout.place(column);
    this.#keyPlaces = layout.collection.primary.columns.map((each) => layout.place(each));
  }

  add(kept: Kept): void {
    for (const key of this.#keys(kept.row)) this.#rows.set(key, kept);
  }

  /** Whether both forms of a row have the same words. */
  keeps(before: StoredRow, after: StoredRow): boolean {
    return before[this.#place] === after[this.#place];
  }

  remove({ row }: Kept): void {
    for (const key of this.#keys(row)) this.#rows.delete(key);
  }

  /** Rows that have all of the words, each once. Walks the rows of the first word. */
  *search([first, ...others]: readonly SearchedWord[]): Generator<StoredRow> {
    if (first === undefined) return;
    const met = new Set<Kept>();
    const start = sortKey([first.word]);
    // Without the mark at its end, a word is the beginning of others.
    const under = first.prefix ? start.slice(0, -endOfWord) : start;
    for (const { key, value } of this.#rows.upFrom(under)) {
      if (!key.startsWith(under)) return;
      if (met.has(value)) continue;
      met.add(value);
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

/** How many characters `sortKey` ends a text with. */
const endOfWord = sortKey([""]).length - 1;
