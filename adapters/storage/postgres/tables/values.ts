/**
 * Values in PostgreSQL's text format. PostgreSQL's text cannot hold U+0000, so U+0000 is stored as
 * U+0001 U+0001, and U+0001 as U+0001 U+0002. This keeps the order of texts and changes nothing
 * that people write.
 */
import type { ColumnType, KeyValue } from "../../../../src/ports/index.ts";
import type { Stored } from "../../layout.ts";

/** A value in PostgreSQL's text format. */
export type Text = string | null;

/** The SQL type of each column type. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "text",
  integer: "bigint",
  time: "bigint",
  position: "bigint",
  real: "double precision",
  boolean: "boolean",
  // Not `jsonb`, which sorts the keys of objects and cannot hold U+0000.
  json: "json",
};

/** Converts a stored value to PostgreSQL's text format. */
export function toText(type: ColumnType, value: Stored): Text {
  if (value === null) return null;
  return type === "text" ? escape(String(value)) : String(value);
}

/** Converts a value of a key to PostgreSQL's text format. */
export function keyText(value: KeyValue): Text {
  return typeof value === "string" ? escape(value) : value === null ? null : String(value);
}

/** Converts a value from the server to a stored value. Drivers differ in which types they parse. */
export function fromServer(type: ColumnType, value: unknown): Stored {
  if (value === null || value === undefined) return null;
  switch (type) {
    case "text":
      return unescape(textOf(value));
    case "json":
      return textOf(value);
    case "boolean":
      return value === true || value === "t" ? 1 : 0;
    case "position":
      // A negative number marks a row without a position yet (`writes/positions.ts`).
      return Math.max(0, Number(value));
    case "integer":
    case "time":
    case "real":
      return Number(value);
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(
    `expected text from the PostgreSQL driver, got a value of type ${typeof value}`,
  );
}

/**
 * Returns an array in PostgreSQL's text format (manual, "Array Input and Output Syntax").
 * Neighbouring values are often equal, so an element is formatted once for a run of equal values.
 */
export function arrayText(type: ColumnType, values: readonly Text[]): string {
  let previous: Text = null;
  let formatted = "NULL";
  const elements = values.map((value) => {
    if (value !== previous) {
      previous = value;
      formatted = value === null ? "NULL" : element(type, value);
    }
    return formatted;
  });
  return `{${elements.join(",")}}`;
}

function element(type: ColumnType, text: string): string {
  switch (type) {
    case "text":
      return quotedElement(text);
    case "json":
      // As a JSON string. JSON has no control characters, so only quotes and backslashes are
      // escaped, as in an array.
      return JSON.stringify(text);
    default:
      return text;
  }
}

// Few texts need escaping, and checking is cheaper than replacing. Plain string methods are faster
// here than regular expressions.

function quotedElement(text: string): string {
  const escaped = text.includes("\\") ? text.replaceAll("\\", "\\\\") : text;
  return `"${escaped.includes('"') ? escaped.replaceAll('"', '\\"') : escaped}"`;
}

function escape(text: string): string {
  if (!text.includes("\u0001") && !text.includes("\0")) return text;
  return text.replaceAll("\u0001", "\u0001\u0002").replaceAll("\0", "\u0001\u0001");
}

function unescape(text: string): string {
  if (!text.includes("\u0001")) return text;
  return text.replaceAll("\u0001\u0001", "\0").replaceAll("\u0001\u0002", "\u0001");
}
