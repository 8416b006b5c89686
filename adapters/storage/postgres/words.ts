/**
 * Rows by their words: a GIN index (PostgreSQL manual, "GIN Indexes") over the words as a `tsvector`, made without a parser, so that they
 * stay as they are.
 */
import type { WordIndex } from "../../../src/ports/collection.ts";
import type { Search } from "../../../src/ports/storage.ts";
import { literal, type Names, prefix, quoted } from "./names.ts";
import type { Statement } from "./session/batch.ts";
import type { Table } from "./tables.ts";

const vector = ({ column }: WordIndex): string =>
  `array_to_tsvector(string_to_array(${quoted(column)}, ' '))`;

/** Without `fastupdate`: a list of what is yet to be entered would have to be read through by every search. */
export function createWordIndex(index: WordIndex, names: Names): string {
  const { collection, name, column } = index;
  return (
    `CREATE INDEX ${quoted(`${prefix}${collection.name}_${name}`)} ON ${names.table(collection.name)} ` +
    `USING gin (${vector(index)}) WITH (fastupdate = off) WHERE ${quoted(column)} IS NOT NULL;`
  );
}

export function searchStatement({ index, words, limit }: Search, table: Table): Statement {
  const text =
    `SELECT ${table.selected} FROM ${table.name} WHERE ${quoted(index.column)} IS NOT NULL ` +
    `AND ${vector(index)} @@ $1::tsquery LIMIT $2::bigint`;
  const query = words
    .map(({ word, prefix: begins }) => `${literal(word)}${begins ? ":*" : ""}`)
    .join(" & ");
  return { text, values: [query, String(limit)] };
}
