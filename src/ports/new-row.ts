import type { Collection } from "./collection.ts";
import type { Row } from "./storage.ts";

const blankRows = new WeakMap<Collection, Row>();

/**
 * Returns a row of a collection with null in each column, to be copied and filled. If each row
 * begins as a copy by `Object.assign({}, blank)`, all rows of the collection have one shape in V8,
 * which copies and reads them fast. An object that gets many columns by computed names or by
 * `Object.assign` becomes a hash table, which takes many times longer. A spread copies column by
 * column once it has copied objects of more than four shapes. `Object.assign` always copies by
 * shape, but only to an empty object.
 */
export function blankRowOf(collection: Collection): Row {
  let blank = blankRows.get(collection);
  if (blank === undefined) {
    const names = Object.keys(collection.columns);
    const columns = collection.kind === "counter" ? names : [...names, "version"];
    blank = Object.fromEntries(columns.map((column) => [column, null]));
    blankRows.set(collection, blank);
  }
  return blank;
}

/** Returns a new row with the given values. */
export function newRow(collection: Collection, ...values: readonly object[]): object {
  return Object.assign({}, blankRowOf(collection), ...values) as object;
}
