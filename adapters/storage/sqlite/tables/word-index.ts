/**
 * Indexes of words: an FTS5 table (SQLite manual, "FTS5") holds only the words, under the rowids of
 * their rows. Triggers maintain it, so it stays up to date whatever program writes the rows.
 */
import type { Row, Search, WordIndex } from "../../../../src/ports/index.ts";
import type { Stored } from "../../layout.ts";
import { indexName, quoted } from "../../sql.ts";
import type { Connection } from "../connections/connection.ts";
import { rowidColumn, tableName, type Table } from "./tables.ts";

/** Returns the statements that create the index and fill it from the existing rows. */
export function createWordIndex(index: WordIndex): string {
  const [table, words] = namesOf(index);
  const [rowid, column] = [rowidColumn(index.collection), quoted(index.column)];
  const hasWords = (row: string): string => `${row}.${column} IS NOT NULL`;
  const addRow = (row: string): string =>
    `INSERT INTO ${words} (rowid, words) ` +
    `SELECT ${row}.${rowid}, ${row}.${column} WHERE ${hasWords(row)};`;
  // A contentless FTS5 table has to be given the old words to delete a row.
  const deleteRow = (row: string): string =>
    `INSERT INTO ${words} (${words}, rowid, words) ` +
    `SELECT 'delete', ${row}.${rowid}, ${row}.${column} WHERE ${hasWords(row)};`;
  const trigger = (name: string, event: string, when: string, body: string): string =>
    `CREATE TRIGGER ${indexName(index, name)} AFTER ${event} ON ${table} ` +
    `WHEN ${when} BEGIN ${body} END;`;
  const changed = `old.${column} IS NOT new.${column}`;
  return [
    // The `ascii` tokenizer counts every character outside ASCII as part of a word. The table only
    // has to find which rows have a word, so it stores no more than that.
    `CREATE VIRTUAL TABLE ${words} ` +
      `USING fts5(words, tokenize = 'ascii', content = '', detail = none, columnsize = 0);`,
    // Without this, the words of a deleted row could stay in the index for an unlimited time.
    `INSERT INTO ${words} (${words}, rank) VALUES ('secure-delete', 1);`,
    trigger("inserted", "INSERT", hasWords("new"), addRow("new")),
    trigger("deleted", "DELETE", hasWords("old"), deleteRow("old")),
    trigger("updated", `UPDATE OF ${column}`, changed, `${deleteRow("old")} ${addRow("new")}`),
    `INSERT INTO ${words} (rowid, words) ` +
      `SELECT ${rowid}, ${column} FROM ${table} WHERE ${column} IS NOT NULL;`,
  ].join("\n");
}

/**
 * Returns the newest rows that have all of the words. FTS5 reads a word's rows in rowid order and
 * stops at the limit.
 */
export function search(
  connection: Connection,
  table: Table,
  { index, words, limit }: Search,
): Row[] {
  const match = words
    .map(({ word, prefix: isPrefix }) => `"${word}"${isPrefix ? "*" : ""}`)
    .join(" ");
  const query = connection.statement(searchSql(table, index));
  return (query.all(match, limit) as Stored[][]).map((row) => table.layout.decode(row));
}

function searchSql({ layout }: Pick<Table, "layout">, index: WordIndex): string {
  const [table, words] = namesOf(index);
  return (
    `SELECT ${layout.columns.map((each) => `t.${quoted(each)}`).join(", ")} FROM ` +
    `(SELECT rowid AS number FROM ${words} WHERE ${words} MATCH ? ` +
    `ORDER BY rowid DESC LIMIT +?) AS found ` +
    `CROSS JOIN ${table} AS t ON t.${rowidColumn(index.collection)} = found.number`
  );
}

function namesOf(index: WordIndex): [table: string, words: string] {
  return [tableName(index.collection), indexName(index)];
}
