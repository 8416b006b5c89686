import type { SearchedWord, WordIndex as WordIndexDescription } from "../../../src/ports/index.ts";
import type { Layout } from "../layout.ts";
import type { RowCell } from "./sorted-index.ts";
import { SortedList, type StoredRow } from "./sorted-list.ts";

/** A word of a row, with the row's key. */
interface Entry {
  readonly row: StoredRow;
  readonly word: string;
  readonly cell: RowCell;
}

/** An index of a collection's rows by the words in one column. */
export class WordIndex {
  readonly name: string;
  readonly #place: number;
  readonly #keyPlaces: readonly number[];
  readonly #entries: SortedList<Entry>;

  constructor(layout: Layout, { name, column }: WordIndexDescription) {
    this.name = name;
    this.#place = layout.place(column);
    this.#keyPlaces = layout.collection.primary.columns.map((each) => layout.place(each));
    this.#entries = new SortedList([0, ...this.#keyPlaces.map((_, i) => i + 1)]);
  }

  /** Adds a row. No other row can be in the way. */
  add(cell: RowCell): true {
    for (const entry of this.#entriesOf(cell)) this.#entries.insert(entry);
    return true;
  }

  /** Whether an update changes the row's words. */
  mustMove(before: StoredRow, after: StoredRow): boolean {
    return before[this.#place] !== after[this.#place];
  }

  remove(cell: RowCell): void {
    for (const entry of this.#entriesOf(cell)) this.#entries.delete(entry);
  }

  /** Yields the rows that have all of the words, each once. It walks the rows of the first word. */
  *search([first, ...others]: readonly SearchedWord[]): Generator<StoredRow> {
    if (first === undefined) return;
    const seen = new Set<RowCell>();
    // The words that begin with a word directly follow it.
    for (const { word, cell } of this.#entries.from([first.word], "ascending", true)) {
      if (!matches(word, first)) return;
      if (seen.has(cell)) continue;
      seen.add(cell);
      const words = this.#words(cell.row);
      if (others.every((other) => words.some((each) => matches(each, other)))) yield cell.row;
    }
  }

  #words(row: StoredRow): readonly string[] {
    const words = row[this.#place];
    return typeof words === "string" ? words.split(" ") : [];
  }

  #entriesOf(cell: RowCell): Entry[] {
    const key = this.#keyPlaces.map((place) => cell.row[place] ?? null);
    return this.#words(cell.row).map((word) => ({ row: [word, ...key], word, cell }));
  }
}

function matches(word: string, searched: SearchedWord): boolean {
  return searched.prefix ? word.startsWith(searched.word) : word === searched.word;
}
