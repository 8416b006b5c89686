import { compareValues, orderOf, type Index, type KeyValue, type Row } from "../../ports/index.ts";

/** Returns a row's first `length` index columns. Undefined if the index excludes the row. */
export function placeIn(index: Index, length: number, row: Row): readonly KeyValue[] | undefined {
  if (!isIncluded(index, row)) return undefined;
  const { columns } = index;
  const first = length < columns.length ? columns.slice(0, length) : columns;
  return first.map((column) => row[column] as KeyValue);
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
      const order = compare(a[column] as KeyValue, b[column] as KeyValue);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Compares two positions in an index. */
export function comparePlaces(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compare(value, b[i] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compare(a: KeyValue, b: KeyValue): number {
  return a === b ? 0 : compareValues(a, b);
}
