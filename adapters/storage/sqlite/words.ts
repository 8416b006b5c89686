/**
 * Rows by their words: an FTS5 table (SQLite manual, "FTS5") of the words alone, and beside it a table of the rows that have any, since
 * FTS5 numbers rows and ours lie by their keys. Triggers keep both, so that whoever writes a row, also by hand, writes its words.
 */
import type { WordIndex } from "../../../src/ports/collection.ts";
import type { Row, Search } from "../../../src/ports/storage.ts";
import type { Stored } from "../layout.ts";
import type { Connection } from "./handle.ts";
import { prefix, quoted, type Table } from "./tables.ts";

/** With the words that rows have by now. */
export function createWordIndex(index: WordIndex): string {
  const { collection, column } = index;
  const [table, places, words] = namesOf(index);
  const key = collection.primary.columns.map(quoted);
  const list = key.join(", ");
  const has = (row: string): string => `${row}.${quoted(column)} IS NOT NULL`;
  const at = (row: string): string => key.map((each) => `${places}.${each} = ${row}.${each}`).join(" AND ");
  const enter = (row: string): string =>
    `INSERT INTO ${places} (${list}) SELECT ${key.map((each) => `${row}.${each}`).join(", ")} WHERE ${has(row)}; ` +
    `INSERT INTO ${words} (rowid, words) SELECT place, ${row}.${quoted(column)} FROM ${places} WHERE ${at(row)};`;
  // A table that keeps no content has to be told what it had.
  const leave = (row: string): string =>
    `INSERT INTO ${words} (${words}, rowid, words) ` +
    `SELECT 'delete', place, ${row}.${quoted(column)} FROM ${places} WHERE ${at(row)}; ` +
    `DELETE FROM ${places} WHERE ${at(row)};`;
  const trigger = (name: string, event: string, when: string, body: string): string =>
    `CREATE TRIGGER ${nameOf(index, name)} AFTER ${event} ON ${table} WHEN ${when} BEGIN ${body} END;`;
  const changed = `old.${quoted(column)} IS NOT new.${quoted(column)}`;
  return [
    `CREATE TABLE ${places} (place INTEGER PRIMARY KEY, ${key.map((each) => `${each} ANY NOT NULL`).join(", ")}, ` +
      `UNIQUE (${list})) STRICT;`,
    // Its `ascii` takes everything for a letter that is not ASCII. No more is asked than which rows have a word.
    `CREATE VIRTUAL TABLE ${words} USING fts5(words, tokenize = 'ascii', content = '', detail = none, columnsize = 0);`,
    // Else the words of a row that is gone would lie in the index for as long as nothing happens to push them out.
    `INSERT INTO ${words} (${words}, rank) VALUES ('secure-delete', 1);`,
    trigger("inserted", "INSERT", has("new"), enter("new")),
    trigger("deleted", "DELETE", has("old"), leave("old")),
    trigger("updated", `UPDATE OF ${quoted(column)}`, changed, `${leave("old")} ${enter("new")}`),
    `INSERT INTO ${places} (${list}) SELECT ${list} FROM ${table} WHERE ${quoted(column)} IS NOT NULL;`,
    `INSERT INTO ${words} (rowid, words) SELECT place, ${quoted(column)} FROM ${places} JOIN ${table} AS row ON ${at("row")};`,
  ].join("\n");
}

/** The rows that were entered last: FTS5 walks a word's rows in their order, and stops. */
export function search(connection: Connection, table: Table, { index, words, limit }: Search): Row[] {
  const asked = words.map(({ word, prefix: begins }) => `"${word}"${begins ? "*" : ""}`).join(" ");
  const query = connection.query(searchSql(table, index));
  return (query.all(asked, limit) as Stored[][]).map((row) => table.layout.decode(row));
}

export function searchSql({ layout }: Pick<Table, "layout">, index: WordIndex): string {
  const [table, places, words] = namesOf(index);
  const key = index.collection.primary.columns.map((each) => `t.${quoted(each)} = p.${quoted(each)}`);
  return (
    `SELECT ${layout.columns.map((each) => `t.${quoted(each)}`).join(", ")} FROM ` +
    `(SELECT rowid AS place FROM ${words} WHERE ${words} MATCH ? ORDER BY rowid DESC LIMIT +?) AS found ` +
    `CROSS JOIN ${places} AS p ON p.place = found.place CROSS JOIN ${table} AS t ON ${key.join(" AND ")}`
  );
}

function namesOf(index: WordIndex): [table: string, places: string, words: string] {
  return [quoted(prefix + index.collection.name), nameOf(index, "places"), nameOf(index)];
}

function nameOf({ collection, name }: WordIndex, ...parts: readonly string[]): string {
  return quoted([`${prefix}${collection.name}`, name, ...parts].join("_"));
}
