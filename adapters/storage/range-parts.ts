/** Ranges in the form in which SQL can compare their bounds. */
import { orderOf, type Index, type KeyValue, type Range } from "../../src/ports/index.ts";
import { isNullable } from "./layout.ts";
import { allOf, quoted } from "./sql.ts";

/**
 * A part of a range that SQL comparisons can select. `notNull` means that the first column after
 * the prefix is not null in its rows.
 */
export interface RangePart extends Range {
  readonly notNull?: boolean;
}

/**
 * Splits a bounded range over a nullable column into two parts: the rows with null and the rows
 * with a value. Nulls come first in ascending order, but SQL's `<` is never true for them. An index
 * can seek in each part. The parts come in the order of the range.
 */
export function* splitAtNulls(range: Range): Generator<RangePart> {
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
    yield* nullParts(range);
    if (until?.[0] !== null) {
      yield valuePart(range, after?.[0] === null ? undefined : after, until);
    }
  } else {
    if (after?.[0] !== null) {
      yield valuePart(range, after, until?.[0] === null ? undefined : until);
    }
    yield* nullParts(range);
  }
}

function valuePart(range: Range, after: Range["after"], until: Range["until"]): RangePart {
  return {
    ...withoutBounds(range),
    ...(after && { after }),
    ...(until && { until }),
    notNull: true,
  };
}

function* nullParts(range: Range): Generator<RangePart> {
  const { prefix, order, after, until } = range;
  // The nulls are at the lower end of the order. A lower bound that is a value excludes all of
  // them, and an upper bound that is a value includes all of them.
  const lower = order === "ascending" ? after : until;
  if (lower !== undefined && lower[0] !== null) return;
  if ([after, until].some((bound) => bound?.length === 1 && bound[0] === null)) return;
  yield* splitAtNulls({
    ...withoutBounds(range),
    prefix: [...prefix, null],
    ...(after?.[0] === null && { after: after.slice(1) }),
    ...(until?.[0] === null && { until: until.slice(1) }),
  });
}

function withoutBounds({ index, prefix, order, where, limit }: Range): Range {
  return { index, prefix, order, limit, ...(where && { where }) };
}

/** Whether the range asks for nulls in an index that leaves them out. */
function isEmpty({ index: { columns, where }, prefix }: Range): boolean {
  if (where === undefined || !("present" in where)) return false;
  return prefix[columns.indexOf(where.column)] === null;
}

/** Adds a value of a column to a statement's parameters and returns its placeholder. */
export type Param = (column: string, value: KeyValue) => string;

/**
 * Whether one comparison of tuples selects the rows beyond a bound on `columns`. In SQL, such a
 * comparison is null if it meets a null. Only the columns after the first can hold one, because
 * `splitAtNulls` removed the nulls of the first.
 */
export function canCompareTuples(
  { collection }: Index,
  columns: readonly string[],
  bound: readonly KeyValue[],
): boolean {
  return !columns.slice(1, bound.length).some((column) => isNullable(collection, column));
}

/**
 * Returns the condition for rows beyond a bound on `columns` whose tuples SQL cannot compare. It
 * has one case for each length of the part that equals the bound. Nulls come first in the order.
 * The placeholders occur in the order in which `param` is called.
 */
export function beyondNullable(
  { collection }: Index,
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
  param: Param,
): string {
  const bounded = columns.slice(0, bound.length);
  // The cases imply the bound on the first column, but only this form lets the index seek.
  const [first = ""] = bounded;
  const seek = `${quoted(first)} ${comparison}= ${param(first, bound[0] ?? null)}`;
  const cases = bounded.map((column, i) => {
    const before = bounded.slice(0, i).map((each, j) => equals(each, bound[j] ?? null, param));
    const value = bound[i] ?? null;
    if (value === null) {
      return allOf([...before, comparison === ">" ? `${quoted(column)} IS NOT NULL` : "false"]);
    }
    const passes = `${quoted(column)} ${comparison} ${param(column, value)}`;
    const orNull = comparison === "<" && isNullable(collection, column);
    return allOf([...before, orNull ? `(${passes} OR ${quoted(column)} IS NULL)` : passes]);
  });
  return `${seek} AND (${cases.join(" OR ")})`;
}

function equals(column: string, value: KeyValue, param: Param): string {
  return value === null
    ? `${quoted(column)} IS NULL`
    : `${quoted(column)} = ${param(column, value)}`;
}

/** Returns the values that a filter of a range accepts. */
export function acceptedValues(filter: KeyValue | readonly KeyValue[]): readonly KeyValue[] {
  return isList(filter) ? filter : [filter];
}

function isList(filter: KeyValue | readonly KeyValue[]): filter is readonly KeyValue[] {
  return Array.isArray(filter);
}
