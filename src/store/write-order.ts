import type { Index, Row, Write } from "../ports/index.ts";
import { placeIn } from "./keys.ts";

/** An update, and the row as the storage has it. */
export interface PlannedUpdate {
  readonly write: Extract<Write, { readonly kind: "update" }>;
  readonly base: Row;
}

/**
 * The updates in an order in which each unique key is free when it is taken: a storage checks it with each row that it writes. Rows that
 * exchange their keys can't be put in order; no command does that.
 */
export function freeingFirst(updates: readonly PlannedUpdate[]): readonly PlannedUpdate[] {
  const takers: PlannedUpdate[] = [];
  const ordered: PlannedUpdate[] = [];
  for (const update of updates) {
    if (taken(update).length > 0) takers.push(update);
    else ordered.push(update);
  }
  while (takers.length > 0) {
    const held = new Set(
      takers.flatMap(({ write, base }) => uniqueKeys(write.collection.indexes, base)),
    );
    const next = takers.findIndex((update) => !taken(update).some((key) => held.has(key)));
    ordered.push(...takers.splice(Math.max(0, next), 1));
  }
  return ordered;
}

/** The unique keys that the row comes to have and has not yet. */
function taken({ write: { collection, changed, row }, base }: PlannedUpdate): string[] {
  const moved = collection.indexes.filter(
    ({ unique, columns, where }) =>
      unique && changed.some((column) => columns.includes(column) || where?.column === column),
  );
  if (moved.length === 0) return [];
  const before = new Set(uniqueKeys(moved, base));
  return uniqueKeys(moved, row).filter((key) => !before.has(key));
}

function uniqueKeys(indexes: readonly Index[], row: Row): string[] {
  return indexes.flatMap((index) => {
    const place = index.unique ? placeIn(index, index.columns.length, row) : undefined;
    return place === undefined ? [] : [`${index.collection.name} ${index.name} ${place}`];
  });
}
