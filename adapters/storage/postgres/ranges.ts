/**
 * Ties a query to one index. PostgreSQL has no index hints, and plans a prepared statement once,
 * maybe while a table is empty and all plans cost the same. So the rows are ordered by columns that
 * only the wanted index has in this order, and sorting is disabled (`settings.ts`).
 *
 * The order begins with the last column of a given key. With `=`, PostgreSQL would know that this
 * column is constant and would drop it from the order, so other indexes would fit too. The column
 * is therefore compared with `>=` and `<=`.
 */
import {
  type Collection,
  type Index,
  type KeyValue,
  orderOf,
  type Range,
} from "../../../src/ports/index.ts";
import { isNullable } from "../layout.ts";
import { acceptedValues, type RangePart, splitAtNulls } from "../range-parts.ts";
import { conditionSql, quoted } from "../sql.ts";
import { direction, sortColumns, type Table, typeOf } from "./tables.ts";
import type { Statement } from "./batch.ts";
import { arrayText, keyText, sqlTypes, type Text } from "./values.ts";

/**
 * A given value of an index's leading columns: whether it is null, and its SQL expression if not.
 */
interface GivenValue {
  readonly isNull: boolean;
  readonly sql: string;
}

/**
 * Returns the conditions that select the rows under given leading values. `ends` are the
 * comparisons with the last value. The caller omits one if its own bound, a comparison of tuples
 * that begin with this value, implies it.
 */
export function scanConditions(
  index: Index,
  table: Pick<Table, "layout">,
  given: readonly GivenValue[],
  ends: readonly (">=" | "<=")[] = [">=", "<="],
): string[] {
  const columns = orderOf(index).map(quoted);
  const { position } = table.layout;
  return [
    ...given.flatMap(({ isNull, sql }, i) => {
      const column = columns[i] ?? "";
      if (isNull) return [`${column} IS NULL`];
      return i < given.length - 1
        ? [`${column} = ${sql}`]
        : ends.map((end) => `${column} ${end} ${sql}`);
    }),
    ...(index.where === undefined ? [] : [conditionSql(index.where)]),
    // A log's row without a position has a negative number there (`positions.ts`). It is left out.
    ...(position !== undefined && index.columns.includes(position)
      ? [`${quoted(position)} > 0`]
      : []),
  ];
}

/** Returns the ORDER BY clause that ties the query to the index. */
export function scanOrder(
  index: Index,
  given: readonly GivenValue[],
  order: "ASC" | "DESC",
): string {
  // The index provides the order of the last given column and those after it. The columns before it
  // are constant, and PostgreSQL knows this of a comparison with `=`, but not of IS NULL. So the
  // clause begins at the first null, if there is one.
  const firstNull = given.findIndex(({ isNull }) => isNull);
  const from = firstNull === -1 ? Math.max(0, given.length - 1) : firstNull;
  const isUnique = index.unique && firstNull === -1 && given.length >= index.columns.length;
  const columns = (isUnique ? orderOf(index).slice(0, given.length) : sortColumns(index)).slice(
    from,
  );
  if (columns.length === 0) return "";
  const directions = columns.map((column) => direction(index.collection, column, order));
  return ` ORDER BY ${directions.join(", ")}`;
}

/** Returns a WHERE clause, or nothing without conditions. */
export function whereClause(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/**
 * Returns the part of a SELECT from FROM to LIMIT 1 that finds the row under a complete primary
 * key. The key's parts are the expressions `seen.k0`, `seen.k1` and so on.
 */
export function keyScan(
  table: Table,
  { primary }: Collection,
  more: readonly string[] = [],
): string {
  const given = primary.columns.map((_, i) => ({ isNull: false, sql: `seen.k${i}` }));
  const conditions = [...scanConditions({ ...primary, where: undefined }, table, given), ...more];
  return `FROM ${table.name}${whereClause(conditions)}${scanOrder(primary, given, "ASC")} LIMIT 1`;
}

/**
 * Returns the statement that reads a range, or undefined if the range is empty. The first column of
 * each row is the number of the part that the row is in. The caller sorts the rows by it and drops
 * the first `toSkip`.
 */
export function rangeStatement(
  range: Range,
  table: Table,
): { statement: Statement; toSkip: number } | undefined {
  const parts = [...splitAtNulls(range)];
  if (parts.length === 0) return undefined;
  const values: Text[] = [];
  const skip = range.skip ?? 0;
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    return {
      statement: { text: partSql({ ...only, skip }, table, values, 0), values },
      toSkip: 0,
    };
  }
  // One statement, so that a row that moves from one part to another is read exactly once.
  const texts = parts.map(
    (part, n) => `(${partSql({ ...part, limit: range.limit + skip }, table, values, n)})`,
  );
  return { statement: { text: texts.join(" UNION ALL "), values }, toSkip: skip };
}

function partSql(part: RangePart, table: Table, values: Text[], number: number): string {
  const { index, prefix, order, skip = 0, limit } = part;
  const columns = orderOf(index);
  const param = (column: string, value: KeyValue): string => {
    values.push(keyText(value));
    return `$${values.length}::${sqlTypes[typeOf(index.collection, column)]}`;
  };
  const given = prefix.map((value, i) => ({
    isNull: value === null,
    sql: value === null ? "" : param(columns[i] ?? "", value),
  }));
  const conditions = [
    ...boundConditions(part, table, given, param),
    ...Object.entries(part.where ?? {}).map(([column, filter]) =>
      isOneOf(index.collection, column, acceptedValues(filter), values),
    ),
  ];
  values.push(String(limit));
  const limitSql = ` LIMIT $${values.length}::bigint`;
  if (skip > 0) values.push(String(skip));
  const offsetSql = skip > 0 ? ` OFFSET $${values.length}::bigint` : "";
  return (
    `SELECT ${number}, ${table.selected} FROM ${table.name}${whereClause(conditions)}` +
    `${scanOrder(index, given, order === "ascending" ? "ASC" : "DESC")}${limitSql}${offsetSql}`
  );
}

/** Returns the conditions on the prefix and for the bounds of a range's part. */
function boundConditions(
  { index, prefix, order, after, until, notNull }: RangePart,
  table: Table,
  given: readonly GivenValue[],
  param: Param,
): string[] {
  const { collection } = index;
  const columns = orderOf(index);
  /** The index's columns after the prefix. */
  const open = columns.slice(prefix.length);
  const last = given.at(-1);
  // A bound begins with the last given column, so that the index can seek to the exact row.
  const lead =
    last === undefined || last.isNull
      ? undefined
      : { column: columns[prefix.length - 1] ?? "", sql: last.sql };
  const [lower, upper] = order === "ascending" ? [after, until] : [until, after];
  const bounds = [
    { bound: lower, comparison: ">", end: ">=" },
    { bound: upper, comparison: "<", end: "<=" },
  ] as const;
  // A bound is one comparison of tuples, unless a column after the first can be null: SQL's
  // comparison of tuples is null then. The first column is not null here (`splitAtNulls`).
  const canBeTuple = (bound: Range["after"]): bound is readonly KeyValue[] =>
    bound !== undefined &&
    !open.slice(1, bound.length).some((column) => isNullable(collection, column));
  const conditions = scanConditions(
    index,
    table,
    given,
    bounds.flatMap(({ bound, end }) => (canBeTuple(bound) ? [] : [end])),
  );
  const [first] = open;
  if (notNull === true && first !== undefined) conditions.push(`${quoted(first)} IS NOT NULL`);
  for (const { bound, comparison } of bounds) {
    if (bound === undefined) continue;
    conditions.push(
      canBeTuple(bound)
        ? beyondTuple(open, bound, comparison, param, lead)
        : beyond(collection, open, bound, comparison, param),
    );
  }
  return conditions;
}

/** Adds a parameter and returns its SQL expression. */
type Param = (column: string, value: KeyValue) => string;

const equal = (column: string, value: KeyValue, param: Param): string =>
  value === null ? `${quoted(column)} IS NULL` : `${quoted(column)} = ${param(column, value)}`;

/** The column before the bound's columns, and its value. */
interface Lead {
  readonly column: string;
  readonly sql: string;
}

/** Returns the condition for rows beyond a bound, as a comparison of tuples. */
function beyondTuple(
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
  param: Param,
  lead: Lead | undefined,
): string {
  const tuple = columns
    .slice(0, bound.length)
    .map((column, i) => ({ column, sql: param(column, bound[i] ?? null) }));
  if (lead !== undefined) tuple.unshift(lead);
  const names = tuple.map(({ column }) => quoted(column)).join(", ");
  const values = tuple.map(({ sql }) => sql).join(", ");
  return `(${names}) ${comparison} (${values})`;
}

/**
 * Returns the same condition where a column after the first can be null. Nulls come first in the
 * order. The first value is not null, because `splitAtNulls` removed nulls.
 */
function beyond(
  collection: Collection,
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
  param: Param,
): string {
  const bounded = columns.slice(0, bound.length);
  const cases = bounded.map((column, i) => {
    const before = bounded.slice(0, i).map((each, j) => equal(each, bound[j] ?? null, param));
    const value = bound[i] ?? null;
    if (value === null) {
      return all([...before, comparison === ">" ? `${quoted(column)} IS NOT NULL` : "false"]);
    }
    const passes = `${quoted(column)} ${comparison} ${param(column, value)}`;
    const orNull = comparison === "<" && isNullable(collection, column);
    return all([...before, orNull ? `(${passes} OR ${quoted(column)} IS NULL)` : passes]);
  });
  // The cases imply the bound on the first column, but only this form lets the index seek.
  const [first = ""] = bounded;
  const seek = `${quoted(first)} ${comparison}= ${param(first, bound[0] ?? null)}`;
  return `${seek} AND (${cases.join(" OR ")})`;
}

/** Returns the condition that a column has one of some values. */
function isOneOf(
  collection: Collection,
  column: string,
  wanted: readonly KeyValue[],
  values: Text[],
): string {
  const type = typeOf(collection, column);
  values.push(arrayText(type, wanted.filter((value) => value !== null).map(keyText)));
  const present = `${quoted(column)} = ANY ($${values.length}::${sqlTypes[type]}[])`;
  return wanted.includes(null) ? `(${present} OR ${quoted(column)} IS NULL)` : present;
}

function all(conditions: readonly string[]): string {
  return `(${conditions.join(" AND ")})`;
}
