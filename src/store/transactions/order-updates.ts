import { getOrInsert } from "../../kernel/index.ts";
import type { Collection, Index, KeyValue, Row, Write } from "../../ports/index.ts";
import { matches, placeIn } from "../reads/index-order.ts";
import { KeyMap } from "./key-map.ts";

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
