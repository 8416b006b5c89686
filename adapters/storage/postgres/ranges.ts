import type { Collection, KeyValue } from "../../../src/ports/collection.ts";
import type { Range } from "../../../src/ports/storage.ts";
import { orderOf } from "../layout.ts";
import { type Stretch, stretches } from "../stretches.ts";
import { quoted } from "./names.ts";
import type { Statement } from "./session/batch.ts";
import { isNullable, type Table, typeOf } from "./tables.ts";
import { arrayText, keyText, sqlTypes, type Text } from "./values.ts";
import { walkConditions, walkOrder, where } from "./walks.ts";

/**
 * The statement that answers a range; undefined of one that is empty. It answers the number of the stretch before the columns: rows of
 * stretches follow each other by it, and where there are several, those to be skipped are among the rows.
 */
export function rangeStatement(
  range: Range,
  table: Table,
): { statement: Statement; skipped: number } | undefined {
  const ways = [...stretches(range)];
  if (ways.length === 0) return undefined;
  const values: Text[] = [];
  const skip = range.skip ?? 0;
  const [only] = ways;
  if (only !== undefined && ways.length === 1) {
    return {
      statement: { text: stretchSql({ ...only, skip }, table, values, 0), values },
      skipped: 0,
    };
  }
  // One statement, so that no row is missed or met twice that moves from one stretch to another.
  const texts = ways.map(
    (way, n) => `(${stretchSql({ ...way, limit: range.limit + skip }, table, values, n)})`,
  );
  return { statement: { text: texts.join(" UNION ALL "), values }, skipped: skip };
}

function stretchSql(stretch: Stretch, table: Table, values: Text[], number: number): string {
  const {
    index,
    prefix,
    order,
    after,
    until,
    present,
    skip = 0,
    limit,
    where: filter = {},
  } = stretch;
  const { collection } = index;
  const columns = orderOf(index);
  const ascending = order === "ascending";
  const param = (column: string, value: KeyValue): string => {
    values.push(keyText(value));
    return `$${values.length}::${sqlTypes[typeOf(collection, column)]}`;
  };
  const given = prefix.map((value, i) => ({
    isNull: value === null,
    sql: value === null ? "" : param(columns[i] ?? "", value),
  }));
  const open = columns.slice(prefix.length);
  const last = given.at(-1);
  // A bound begins with the last column that is given: the index can then be entered at the very row.
  const lead =
    last === undefined || last.isNull
      ? undefined
      : { column: columns[prefix.length - 1] ?? "", sql: last.sql };
  const [least, most] = ascending ? [after, until] : [until, after];
  const bounds = [
    { bound: least, comparison: ">", end: ">=" },
    { bound: most, comparison: "<", end: "<=" },
  ] as const;
  const tupled = (bound: Range["after"]): bound is readonly KeyValue[] =>
    bound !== undefined &&
    !open.slice(1, bound.length).some((column) => isNullable(collection, column));
  const conditions = walkConditions(
    index,
    table,
    given,
    bounds.flatMap(({ bound, end }) => (tupled(bound) ? [] : [end])),
  );
  const [first] = open;
  if (present === true && first !== undefined) conditions.push(`${quoted(first)} IS NOT NULL`);
  for (const { bound, comparison } of bounds) {
    if (bound === undefined) continue;
    conditions.push(
      tupled(bound)
        ? beyondTuple(open, bound, comparison, param, lead)
        : beyond(collection, open, bound, comparison, param),
    );
  }
  for (const [column, wanted] of Object.entries(filter)) {
    conditions.push(among(collection, column, wanted, values));
  }
  values.push(String(limit));
  const limited = ` LIMIT $${values.length}::bigint`;
  if (skip > 0) values.push(String(skip));
  return (
    `SELECT ${number}, ${table.selected} FROM ${table.name}${where(conditions)}` +
    `${walkOrder(index, given, ascending ? "ASC" : "DESC")}${limited}${skip > 0 ? ` OFFSET $${values.length}::bigint` : ""}`
  );
}

type Param = (column: string, value: KeyValue) => string;

const equal = (column: string, value: KeyValue, param: Param): string =>
  value === null ? `${quoted(column)} IS NULL` : `${quoted(column)} = ${param(column, value)}`;

interface Lead {
  readonly column: string;
  readonly sql: string;
}

/** Rows beyond a bound, a tuple of the first columns. */
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
  return `(${tuple.map(({ column }) => quoted(column)).join(", ")}) ${comparison} (${tuple.map(({ sql }) => sql).join(", ")})`;
}

/** The same where columns behind the first can be null. The first's value is not null (`stretches` sees to it). */
function beyond(
  collection: Collection,
  columns: readonly string[],
  bound: readonly KeyValue[],
  comparison: "<" | ">",
  param: Param,
): string {
  const bounded = columns.slice(0, bound.length);
  const ways = bounded.map((column, i) => {
    const before = bounded.slice(0, i).map((each, j) => equal(each, bound[j] ?? null, param));
    const value = bound[i] ?? null;
    if (value === null) {
      return all([...before, comparison === ">" ? `${quoted(column)} IS NOT NULL` : "false"]);
    }
    const passes = `${quoted(column)} ${comparison} ${param(column, value)}`;
    const orNull = comparison === "<" && isNullable(collection, column);
    return all([...before, orNull ? `(${passes} OR ${quoted(column)} IS NULL)` : passes]);
  });
  // The bound on the first column is implied by the rest, and it is what the index can seek by.
  const [first = ""] = bounded;
  return `${quoted(first)} ${comparison}= ${param(first, bound[0] ?? null)} AND (${ways.join(" OR ")})`;
}

type Wanted = KeyValue | readonly KeyValue[];
const isList = (wanted: Wanted): wanted is readonly KeyValue[] => Array.isArray(wanted);

function among(collection: Collection, column: string, wanted: Wanted, values: Text[]): string {
  const list = isList(wanted) ? wanted : [wanted];
  const type = typeOf(collection, column);
  values.push(arrayText(type, list.filter((value) => value !== null).map(keyText)));
  const present = `${quoted(column)} = ANY ($${values.length}::${sqlTypes[type]}[])`;
  return list.includes(null) ? `(${present} OR ${quoted(column)} IS NULL)` : present;
}

function all(conditions: readonly string[]): string {
  return `(${conditions.join(" AND ")})`;
}
