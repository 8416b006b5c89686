/**
 * Rows by their words: an FTS5 table (SQLite manual, "FTS5") of the words alone, under the numbers of the rows that have any. Triggers
 * keep it, so that whoever writes a row, also by hand, writes its words.
 */
import type { WordIndex } from "../../../src/ports/collection.ts";
import type { Row, Search } from "../../../src/ports/storage.ts";
import type { Stored } from "../layout.ts";
import type { Connection } from "./handle.ts";
import { numberColumn, prefix, quoted, type Table, tableName } from "./tables.ts";

/** With the words that rows have by now. */
export function createWordIndex(index: WordIndex): string {
  const [table, words] = namesOf(index);
  const [number, column] = [numberColumn(index.collection), quoted(index.column)];
  const has = (row: string): string => `${row}.${column} IS NOT NULL`;
  const enter = (row: string): string =>
    `INSERT INTO ${words} (rowid, words) SELECT ${row}.${number}, ${row}.${column} WHERE ${has(row)};`;
  // A table that keeps no content has to be told what it had.
  const leave = (row: string): string =>
    `INSERT INTO ${words} (${words}, rowid, words) ` +
    `SELECT 'delete', ${row}.${number}, ${row}.${column} WHERE ${has(row)};`;
  const trigger = (name: string, event: string, when: string, body: string): string =>
    `CREATE TRIGGER ${nameOf(index, name)} AFTER ${event} ON ${table} WHEN ${when} BEGIN ${body} END;`;
  const changed = `old.${column} IS NOT new.${column}`;
  return [
    // Its `ascii` takes everything for a letter that is not ASCII. No more is asked than which rows have a word.
    `CREATE VIRTUAL TABLE ${words} USING fts5(words, tokenize = 'ascii', content = '', detail = none, columnsize = 0);`,
    // Else the words of a row that is gone would lie in the index for as long as nothing happens to push them out.
    `INSERT INTO ${words} (${words}, rank) VALUES ('secure-delete', 1);`,
    trigger("inserted", "INSERT", has("new"), enter("new")),
    trigger("deleted", "DELETE", has("old"), leave("old")),
    trigger("updated", `UPDATE OF ${column}`, changed, `${leave("old")} ${enter("new")}`),
    `INSERT INTO ${words} (rowid, words) SELECT ${number}, ${column} FROM ${table} WHERE ${column} IS NOT NULL;`,
  ].join("\n");
}

/** The newest rows: FTS5 walks a word's rows in the order of their numbers, and stops. */
export function search(
  connection: Connection,
  table: Table,
  { index, words, limit }: Search,
): Row[] {
  const asked = words.map(({ word, prefix: begins }) => `"${word}"${begins ? "*" : ""}`).join(" ");
  const query = connection.query(searchSql(table, index));
  return (query.all(asked, limit) as Stored[][]).map((row) => table.layout.decode(row));
}

function searchSql({ layout }: Pick<Table, "layout">, index: WordIndex): string {
  const [table, words] = namesOf(index);
  return (
    `SELECT ${layout.columns.map((each) => `t.${quoted(each)}`).join(", ")} FROM ` +
    `(SELECT rowid AS number FROM ${words} WHERE ${words} MATCH ? ORDER BY rowid DESC LIMIT +?) AS found ` +
    `CROSS JOIN ${table} AS t ON t.${numberColumn(index.collection)} = found.number`
  );
}

function namesOf(index: WordIndex): [table: string, words: string] {
  return [tableName(index.collection), nameOf(index)];
}

function nameOf({ collection, name }: WordIndex, ...parts: readonly string[]): string {
  return quoted([`${prefix}${collection.name}`, name, ...parts].join("_"));
}
