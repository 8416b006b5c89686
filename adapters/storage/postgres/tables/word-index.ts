/**
 * Indexes of words: a GIN index (PostgreSQL manual, "GIN Indexes") over the words as a `tsvector`.
 * The `tsvector` is built without a parser, so the words stay as they are.
 */
import type { Search, WordIndex } from "../../../../src/ports/index.ts";
import { indexName, literal, quoted } from "../../sql.ts";
import type { Statement } from "../connections/statement.ts";
import type { Names } from "../names.ts";
import type { Table } from "./tables.ts";

const vector = ({ column }: WordIndex): string =>
  `array_to_tsvector(string_to_array(${quoted(column)}, ' '))`;

/**
 * Creates the index without `fastupdate`, whose list of pending entries every search would have to
 * read.
 */
export function createWordIndex(index: WordIndex, names: Names): string {
  const { collection, column } = index;
  return (
    `CREATE INDEX ${indexName(index)} ` +
    `ON ${names.table(collection.name)} USING gin (${vector(index)}) WITH (fastupdate = off) ` +
    `WHERE ${quoted(column)} IS NOT NULL;`
  );
}

/** Returns the statement that finds the rows with all of the words. */
export function searchStatement({ index, words, limit }: Search, table: Table): Statement {
  const text =
    `SELECT ${table.selected} FROM ${table.name} WHERE ${quoted(index.column)} IS NOT NULL ` +
    `AND ${vector(index)} @@ $1::tsquery LIMIT $2::bigint`;
  const query = words
    .map(({ word, prefix: isPrefix }) => `${literal(word)}${isPrefix ? ":*" : ""}`)
    .join(" & ");
  return { text, values: [query, String(limit)] };
}
