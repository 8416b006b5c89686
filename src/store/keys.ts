import { getOrInsert } from "../kernel/index.ts";
import type { Collection, Index, KeyValue, Row, Write } from "../ports/index.ts";
import { KeyMap } from "./key-map.ts";

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

interface UniqueKey {
  readonly index: Index;
  readonly key: readonly KeyValue[];
}

/** An update that gives a row unique keys. */
interface Taker {
  readonly update: PlannedUpdate;
  readonly keys: readonly UniqueKey[];
}

/**
 * Orders updates so that each unique key is free when a row takes it, since storages check unique
 * keys row by row. There is no such order for rows that swap their keys. No command does that.
 */
export function orderUpdates(updates: readonly PlannedUpdate[]): readonly PlannedUpdate[] {
  const takers: Taker[] = [];
  const ordered: PlannedUpdate[] = [];
  for (const update of updates) {
    const keys = newKeys(update);
    if (keys.length > 0) takers.push({ update, keys });
    else ordered.push(update);
  }
  const holders = new Map<Index, KeyMap<Taker>>();
  for (const taker of takers) {
    const { write, base } = taker.update;
    for (const { index, key } of keysIn(uniqueIndexes(write.collection), base)) {
      getOrInsert(holders, index, () => new KeyMap()).set(key, taker);
    }
  }
  const placed = new Set<Taker>();
  const place = (taker: Taker): void => {
    if (placed.has(taker)) return;
    placed.add(taker);
    // The row that has a key now gives it up before another row takes it.
    for (const { index, key } of taker.keys) {
      const holder = holders.get(index)?.get(key);
      if (holder !== undefined) place(holder);
    }
    ordered.push(taker.update);
  };
  for (const taker of takers) place(taker);
  return ordered;
}

/** Returns the unique keys that an update gives to the row. */
function newKeys({ write: { collection, changed, row }, base }: PlannedUpdate): UniqueKey[] {
  const changedIndexes = uniqueIndexes(collection).filter(({ columns, where }) =>
    changed.some((column) => columns.includes(column) || where?.column === column),
  );
  return keysIn(changedIndexes, row).filter(({ index, key }) => !matches(index, key, base));
}

const uniqueIndexesOf = new WeakMap<Collection, readonly Index[]>();

/** Returns the unique indexes of a collection, without the primary key, which never changes. */
function uniqueIndexes(collection: Collection): readonly Index[] {
  return getOrInsert(uniqueIndexesOf, collection, () =>
    collection.indexes.filter(({ unique }) => unique),
  );
}

/** Returns the keys of a row in some unique indexes. */
function keysIn(indexes: readonly Index[], row: Row): UniqueKey[] {
  return indexes.flatMap((index) => {
    const key = placeIn(index, index.columns.length, row);
    return key === undefined ? [] : [{ index, key }];
  });
}
