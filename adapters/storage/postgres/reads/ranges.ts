import {
  orderOf,
  type Collection,
  type KeyValue,
  type Range,
} from "../../../../src/ports/index.ts";
import { columnType } from "../../layout.ts";
import {
  acceptedValues,
  beyondNullable,
  canCompareTuples,
  splitAtNulls,
  type Param,
  type RangePart,
} from "../../range-parts.ts";
import { quoted, whereClause } from "../../sql.ts";
import type { Statement } from "../connections/statement.ts";
import type { Table } from "../tables/tables.ts";
import { arrayText, keyText, sqlTypes, type Text } from "../tables/values.ts";
import { scanConditions, scanOrder, type GivenValue } from "./index-scan.ts";

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
    return `$${values.length}::${sqlTypes[columnType(index.collection, column)]}`;
  };
  const given = prefix.map((value, i) => (value === null ? null : param(columns[i] ?? "", value)));
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
  const columns = orderOf(index);
  /** The index's columns after the prefix. */
  const open = columns.slice(prefix.length);
  // A bound begins with the last given column, so that the index can seek to the exact row.
  const sql = given.at(-1) ?? undefined;
  const lead = sql === undefined ? undefined : { column: columns[prefix.length - 1] ?? "", sql };
  const [lower, upper] = order === "ascending" ? [after, until] : [until, after];
  const bounds = [
    { bound: lower, comparison: ">", end: ">=" },
    { bound: upper, comparison: "<", end: "<=" },
  ] as const;
  const isTuple = (bound: Range["after"]): bound is readonly KeyValue[] =>
    bound !== undefined && canCompareTuples(index, open, bound);
  const conditions = scanConditions(
    index,
    table,
    given,
    bounds.flatMap(({ bound, end }) => (isTuple(bound) ? [] : [end])),
  );
  const [first] = open;
  if (notNull === true && first !== undefined) conditions.push(`${quoted(first)} IS NOT NULL`);
  for (const { bound, comparison } of bounds) {
    if (bound === undefined) continue;
    conditions.push(
      isTuple(bound)
        ? beyondTuple(open, bound, comparison, param, lead)
        : beyondNullable(index, open, bound, comparison, param),
    );
  }
  return conditions;
}

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

/** Returns the condition that a column has one of some values. */
function isOneOf(
  collection: Collection,
  column: string,
  wanted: readonly KeyValue[],
  values: Text[],
): string {
  const type = columnType(collection, column);
  values.push(arrayText(type, wanted.filter((value) => value !== null).map(keyText)));
  const present = `${quoted(column)} = ANY ($${values.length}::${sqlTypes[type]}[])`;
  return wanted.includes(null) ? `(${present} OR ${quoted(column)} IS NULL)` : present;
}
