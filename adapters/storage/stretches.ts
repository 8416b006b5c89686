import { type Collection, columnsOf } from "../../src/ports/collection.ts";
import type { Range } from "../../src/ports/storage.ts";
import { orderOf } from "./layout.ts";

/** A part of a range whose bounds don't fall among nulls: `present` says that its first open column is not null. */
export interface Stretch extends Range {
  readonly present?: boolean;
}

/**
 * Nulls come first in an ascending order, and SQL's `<` never holds for them. So a bounded stretch of a column that can be null is
 * read as two, its nulls and its values, each of which an index can seek into. In the order of the range.
 */
export function* stretches(range: Range): Generator<Stretch> {
  const { index, prefix, order, after, until } = range;
  if (after?.length === 0 || until?.length === 0 || isEmpty(range)) return;
  const column = orderOf(index)[prefix.length];
  if (
    (after === undefined && until === undefined) ||
    column === undefined ||
    !isNullable(index.collection, column)
  ) {
    yield range;
    return;
  }
  if (order === "ascending") {
    yield* nullStretches(range);
    if (until?.[0] !== null) {
      yield valueStretch(range, after?.[0] === null ? undefined : after, until);
    }
  } else {
    if (after?.[0] !== null) {
      yield valueStretch(range, after, until?.[0] === null ? undefined : until);
    }
    yield* nullStretches(range);
  }
}

function valueStretch(range: Range, after: Range["after"], until: Range["until"]): Stretch {
  return {
    ...withoutBounds(range),
    ...(after && { after }),
    ...(until && { until }),
    present: true,
  };
}

function* nullStretches(range: Range): Generator<Stretch> {
  const { prefix, order, after, until } = range;
  // A value at this end of the order lies between the stretch and the nulls; at the other end it lets all of them in.
  const near = order === "ascending" ? after : until;
  if (near !== undefined && near[0] !== null) return;
  if ([after, until].some((bound) => bound?.length === 1 && bound[0] === null)) return;
  yield* stretches({
    ...withoutBounds(range),
    prefix: [...prefix, null],
    ...(after?.[0] === null && { after: after.slice(1) }),
    ...(until?.[0] === null && { until: until.slice(1) }),
  });
}

function withoutBounds({ index, prefix, order, where, limit }: Range): Range {
  return { index, prefix, order, limit, ...(where && { where }) };
}

/** Whether it asks for nulls of an index that has none. */
function isEmpty({ index: { columns, where }, prefix }: Range): boolean {
  if (where === undefined || !("present" in where)) return false;
  return prefix[columns.indexOf(where.column)] === null;
}

function isNullable(collection: Collection, column: string): boolean {
  return columnsOf(collection).some(([name, { nullable }]) => name === column && nullable);
}
