import type { Index, KeyValue, Row } from "../ports/index.ts";

/** A key as one string; lengths keep ["a", "bc"] and ["ab", "c"] apart. */
export function encodeKey(key: readonly KeyValue[]): string {
  let encoded = "";
  for (const part of key) encoded += encodePart(part);
  return encoded;
}

const encodePart = (part: unknown): string =>
  typeof part === "string" ? `${part.length}:${part}` : `#${String(part)};`;

/** Where a row stands in an index, by its first `length` columns; `undefined` when the index doesn't have it. */
export function placeIn(index: Index, length: number, row: Row): string | undefined {
  if (!isIn(index, row)) return undefined;
  let place = "";
  for (let i = 0; i < length; i++) place += encodePart(row[index.columns[i] ?? ""]);
  return place;
}

/** Whether a row stands in an index under (a prefix of) a key. */
export function matches(index: Index, key: readonly KeyValue[], row: Row): boolean {
  for (let i = 0; i < key.length; i++) {
    if (row[index.columns[i] ?? ""] !== key[i]) return false;
  }
  return isIn(index, row);
}

function isIn({ where }: Index, row: Row): boolean {
  if (where === undefined) return true;
  const value = row[where.column];
  return "in" in where ? typeof value === "string" && where.in.includes(value) : value !== null;
}

/** The order of an index: its columns, then the primary key's. */
export function byIndex(index: Index): (a: Row, b: Row) => number {
  const columns = [...index.columns, ...index.collection.primary.columns];
  return (a, b) => {
    for (const column of columns) {
      const order = compare(a[column], b[column]);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** The order of two places in an index. */
export function comparePlaces(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compare(value, b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Absent first, then by value: what the storages do too. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return Number(a) - Number(b);
}

/** By code point, which UTF-16 is not: half of a pair sorts below what follows the surrogates. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdf_ff;
