import { type Index, type KeyValue, orderOf, type Row } from "../ports/index.ts";

/** Returns a row's first `length` index columns. Undefined if the index excludes the row. */
export function placeIn(index: Index, length: number, row: Row): readonly KeyValue[] | undefined {
  if (!isIncluded(index, row)) return undefined;
  return index.columns.slice(0, length).map((column) => row[column] as KeyValue);
}

/** Whether an index has a row under a key, or under a prefix of one. */
export function matches(index: Index, key: readonly KeyValue[], row: Row): boolean {
  for (let i = 0; i < key.length; i++) {
    if (row[index.columns[i] ?? ""] !== key[i]) return false;
  }
  return isIncluded(index, row);
}

function isIncluded({ where }: Index, row: Row): boolean {
  if (where === undefined) return true;
  const value = row[where.column];
  return "in" in where ? typeof value === "string" && where.in.includes(value) : value !== null;
}

/** Returns a function that compares rows in the order of an index, then by the primary key. */
export function byIndex(index: Index): (a: Row, b: Row) => number {
  const columns = orderOf(index);
  return (a, b) => {
    for (const column of columns) {
      const order = compare(a[column], b[column]);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Compares two positions in an index. */
export function comparePlaces(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compare(value, b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares values as the storages do: null first, then by value. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return Number(a) - Number(b);
}

/**
 * Compares by code point. Comparing UTF-16 code units would put surrogates before the code points
 * above them, U+E000 to U+FFFF.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdf_ff;
