/**
 * Values as PostgreSQL takes and gives them, in its text format. Its text has no NUL, which ours may: U+0000 is stored as U+0001
 * U+0001, and U+0001 as U+0001 U+0002. That keeps the order of texts, and leaves all that people write as it is.
 */
import type { ColumnType, KeyValue } from "../../../src/ports/collection.ts";
import type { Stored } from "../layout.ts";

export type Text = string | null;

export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "text",
  integer: "bigint",
  time: "bigint",
  position: "bigint",
  real: "double precision",
  boolean: "boolean",
  // Not `jsonb`, which sorts the keys of objects and knows no NUL.
  json: "json",
};

/** A value of a column, from the form that all storages share. */
export function toText(type: ColumnType, value: Stored): Text {
  if (value === null) return null;
  return type === "text" ? escaped(String(value)) : String(value);
}

export function keyText(value: KeyValue): Text {
  return typeof value === "string" ? escaped(value) : value === null ? null : String(value);
}

/** What came from the server, in the form that all storages share. Drivers differ in how much of the text they make of. */
export function fromServer(type: ColumnType, value: unknown): Stored {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "text":
      return unescaped(textOf(value));
    case "json":
      return textOf(value);
    case "boolean":
      return value === true || value === "t" ? 1 : 0;
    case "position":
      // Below zero: it waits for its position.
      return Math.max(0, Number(value));
    case "integer":
    case "time":
    case "real":
      return Number(value);
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`the driver made a value of type ${typeof value} of a text`);
}

/** An array's text (manual, "Array Input and Output Syntax"). Neighbours are often alike, and then are written once. */
export function arrayText(type: ColumnType, values: readonly Text[]): string {
  const quotes = type === "text" || type === "json";
  let array = "{";
  let before: Text = null;
  let written = "NULL";
  for (const [i, value] of values.entries()) {
    if (value !== before) {
      before = value;
      written = value === null ? "NULL" : quotes ? element(value) : value;
    }
    array += i === 0 ? written : `,${written}`;
  }
  return `${array}}`;
}

// Few texts have anything to escape, and to look for it is cheaper than to replace it. By plain strings: a regular expression takes longer.

function element(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function escaped(text: string): string {
  if (!text.includes("\u0001") && !text.includes("\0")) return text;
  return text.replaceAll("\u0001", "\u0001\u0002").replaceAll("\0", "\u0001\u0001");
}

function unescaped(text: string): string {
  if (!text.includes("\u0001")) return text;
  return text.replaceAll("\u0001\u0001", "\0").replaceAll("\u0001\u0002", "\u0001");
}
