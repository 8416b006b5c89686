import {
  StorageConflict,
  type SearchedWord,
  type StoragePort,
  type Write,
} from "../../../../src/ports/index.ts";
import { Dice } from "../../simulated/dice.ts";
import { failsAs, same } from "../checks.ts";
import { books, booksByWords, type Book } from "./collections.ts";
import { write, type StorageChecks } from "./fixture.ts";

const book = (id: string, words: string | null, pages = 0): Book => ({
  shelf: "a",
  id,
  words,
  pages,
});
const insert = (row: Book): Write => ({
  kind: "insert",
  collection: books,
  row: { ...row, version: 1 },
});
const update = (row: Book, version: number, ...changed: string[]): Write => ({
  kind: "update",
  collection: books,
  key: [row.shelf, row.id],
  version,
  row: { ...row, version: version + 1 },
  changed,
});
const remove = (id: string, version: number): Write => ({
  kind: "remove",
  collection: books,
  key: ["a", id],
  version,
});

/** `sea*` matches the words that start with `sea`. */
const wordsOf = (query: string): SearchedWord[] =>
  query.split(" ").map((each) => ({ word: each.replace("*", ""), prefix: each.endsWith("*") }));

async function found(port: StoragePort, query: string, limit = 100): Promise<unknown[]> {
  const [rows = []] = await port.reader.search([
    { index: booksByWords, words: wordsOf(query), limit },
  ]);
  return sortedIds(rows);
}

const sortedIds = (rows: readonly { readonly id?: unknown }[]): unknown[] =>
  rows.map(({ id }) => String(id)).toSorted((a, b) => (a < b ? -1 : 1));

/** Searches in a word index. */
export const searchChecks: StorageChecks = {
  "a search finds the rows that have all words or prefixes": async (ports) => {
    const port = await ports.port();
    await write(
      port,
      insert(book("whale", "moby dick 1851")),
      insert(book("sea", "the old man and the sea")),
      insert(book("seas", "men of the seas")),
      insert(book("none", null)),
      insert(book("empty", "")),
    );
    same(await found(port, "moby"), ["whale"], "a word");
    same(await found(port, "dick moby"), ["whale"], "words in any order");
    same(await found(port, "the sea"), ["sea"], "a whole word, and not what begins with it");
    same(await found(port, "sea*"), ["sea", "seas"], "the beginning of a word");
    same(await found(port, "m* the"), ["sea", "seas"], "a beginning and a whole word");
    same(await found(port, "moby the"), [], "words of different rows");
    same(await found(port, "oby*"), [], "the middle of a word");
    same(await found(port, "185*"), ["whale"], "a number");
    const [whale] = await port.reader.search([
      { index: booksByWords, words: wordsOf("moby"), limit: 1 },
    ]);
    same(whale, [{ ...book("whale", "moby dick 1851"), version: 1 }], "the row that is found");
  },

  "words of any script are found, and no word is an operator": async (ports) => {
    const port = await ports.port();
    await write(
      port,
      insert(book("operators", "and or not near")),
      insert(book("japanese", "日本 東京")),
      insert(book("greek", "οδοσ ødegård")),
      insert(book("beyond", "𐐨𐐩 x")),
      insert(book("long", `${"x".repeat(99)}y`)),
    );
    for (const word of ["and", "or", "not", "near"]) {
      same(await found(port, word), ["operators"], `rows found for ${word}`);
    }
    same(await found(port, "日*"), ["japanese"], "a beginning of one character");
    same(await found(port, "日"), [], "less than a word");
    same(await found(port, "東京 日本"), ["japanese"], "two words");
    same(await found(port, "ødegård οδ*"), ["greek"], "words of two alphabets");
    same(await found(port, "𐐨*"), ["beyond"], "beyond the first plane");
    same(await found(port, `${"x".repeat(99)}y`), ["long"], "100 characters");
    same(await found(port, "x".repeat(99)), [], "99 of them");
  },

  "a search reflects words that are added, changed and removed": async (ports) => {
    const port = await ports.port();
    await write(port, insert(book("a", "red")), insert(book("b", null)), insert(book("c", "red")));
    await write(port, update(book("a", "blue"), 1, "words"), update(book("b", "red"), 1, "words"));
    await write(port, update(book("c", "red", 7), 1, "pages"));
    same(await found(port, "red"), ["b", "c"], "rows that are red");
    same(await found(port, "blue"), ["a"], "the row that became blue");
    await write(port, update(book("b", null), 2, "words"), remove("c", 2));
    same(await found(port, "red"), [], "rows that are still red");
    await write(port, insert(book("c", "green")), update(book("b", "green"), 3, "words"));
    same(await found(port, "green"), ["b", "c"], "rows that came again");
    const refused = [insert(book("d", "green")), update(book("a", "green"), 1, "words")];
    await failsAs(StorageConflict, () => write(port, ...refused), "an outdated update");
    same(await found(port, "green"), ["b", "c"], "after a group that was refused");
    same(await found(await ports.port(), "green"), ["b", "c"], "on another connection");
  },

  "a search respects its limit, and several searches return their rows in order": async (ports) => {
    const port = await ports.port();
    await write(port, ...Array.from({ length: 50 }, (_, i) => insert(book(`b${i}`, `all n${i}`))));
    same((await found(port, "all", 7)).length, 7, "rows up to the limit");
    same((await found(port, "n* all", 7)).length, 7, "rows up to the limit by a beginning");
    const searches = ["n3", "none", "n4"].map((query) => ({
      index: booksByWords,
      words: wordsOf(query),
      limit: 5,
    }));
    same(
      (await port.reader.search(searches)).map(sortedIds),
      [["b3"], [], ["b4"]],
      "rows of each search",
    );
    same(await port.reader.search([]), [], "no search");
  },

  "a search returns what filtering all rows returns": async (ports) => {
    const port = await ports.port();
    const dice = new Dice(3);
    const vocabulary = ["a", "ab", "abc", "abd", "b", "ba", "é", "éa"] as const;
    const some = (most: number): string[] => [
      ...new Set(Array.from({ length: dice.between(1, most) }, () => dice.pick(vocabulary))),
    ];
    const rows = Array.from({ length: 60 }, (_, i) =>
      book(`b${i}`, dice.chance(1 / 5) ? null : some(4).join(" ")),
    );
    await write(port, ...rows.map(insert));
    for (let round = 0; round < 100; round++) {
      const query = some(3).map((word) => `${word}${dice.chance(1 / 2) ? "*" : ""}`);
      const expected = rows.filter(({ words }) => {
        const own = words?.split(" ") ?? [];
        return query.every((each) =>
          each.endsWith("*")
            ? own.some((word) => word.startsWith(each.slice(0, -1)))
            : own.includes(each),
        );
      });
      same(
        await found(port, query.join(" ")),
        sortedIds(expected),
        `rows found for ${query.join(" ")}`,
      );
    }
  },
};
