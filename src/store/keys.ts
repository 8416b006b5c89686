import type { Index, KeyValue, Row, Write } from "../ports/index.ts";

/** Returns a key as one string. Lengths distinguish ["a", "bc"] from ["ab", "c"]. */
export function encodeKey(key: readonly KeyValue[]): string {
  let encoded = "";
  for (const part of key) encoded += encodePart(part);
  return encoded;
}

const encodePart = (part: unknown): string =>
  typeof part === "string" ? `${part.length}:${part}` : `#${String(part)};`;

/**
 * Returns a row's first `length` index columns, encoded. Undefined if the index excludes the row.
 */
export function placeIn(index: Index, length: number, row: Row): string | undefined {
  if (!isIncluded(index, row)) return undefined;
  let place = "";
  for (let i = 0; i < length; i++) place += encodePart(row[index.columns[i] ?? ""]);
  return place;
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
  const columns = [...index.columns, ...index.collection.primary.columns];
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

/** An update and the stored row. */
export interface PlannedUpdate {
  readonly write: Extract<Write, { readonly kind: "update" }>;
  readonly base: Row;
}

/**
 * Orders updates so that each unique key is free when a row takes it, since storages check unique
 * keys row by row. There is no such order for rows that swap their keys. No command does that.
 */
export function orderUpdates(updates: readonly PlannedUpdate[]): readonly PlannedUpdate[] {
  const takers: PlannedUpdate[] = [];
  const ordered: PlannedUpdate[] = [];
  for (const update of updates) {
    if (newKeys(update).length > 0) takers.push(update);
    else ordered.push(update);
  }
  while (takers.length > 0) {
    const held = new Set(
      takers.flatMap(({ write, base }) => uniqueKeys(write.collection.indexes, base)),
    );
    const next = takers.findIndex((update) => !newKeys(update).some((key) => held.has(key)));
    ordered.push(...takers.splice(Math.max(0, next), 1));
  }
  return ordered;
}

/** Returns the unique keys that an update gives to the row. */
function newKeys({ write: { collection, changed, row }, base }: PlannedUpdate): string[] {
  const changedIndexes = collection.indexes.filter(
    ({ unique, columns, where }) =>
      unique && changed.some((column) => columns.includes(column) || where?.column === column),
  );
  if (changedIndexes.length === 0) return [];
  const before = new Set(uniqueKeys(changedIndexes, base));
  return uniqueKeys(changedIndexes, row).filter((key) => !before.has(key));
}

/** Returns the keys of a row in unique indexes. */
function uniqueKeys(indexes: readonly Index[], row: Row): string[] {
  return indexes.flatMap((index) => {
    const place = index.unique ? placeIn(index, index.columns.length, row) : undefined;
    return place === undefined ? [] : [`${index.collection.name} ${index.name} ${place}`];
  });
}
