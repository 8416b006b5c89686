/**
 * Ties a query to one index. PostgreSQL has no index hints, and plans a prepared statement once,
 * maybe while a table is empty and all plans cost the same. The last column of a given key is
 * therefore compared with `>=` and `<=` instead of `=`, and the rows are ordered from that column
 * on. Only the wanted index has this order, and sorting is disabled (`settings.ts`).
 */
import type { Collection, Index } from "../../../src/ports/index.ts";
import { orderOf } from "../layout.ts";
import { quoted } from "./names.ts";
import { conditionSql, direction, sortColumns, type Table } from "./tables.ts";

/**
 * A given value of an index's leading columns: whether it is null, and its SQL expression if not.
 */
export interface GivenValue {
  readonly isNull: boolean;
  readonly sql: string;
}

/**
 * Returns the conditions that select the rows under given leading values. `ends` are the
 * comparisons with the last value that are needed here. The caller's bounds imply the others.
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
    // A log's rows are in its order once they have a position.
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
  // PostgreSQL does not know that a column that is null in all rows orders nothing, so the clause
  // begins at the first null at the latest.
  const firstNull = given.findIndex(({ isNull }) => isNull);
  const from = Math.max(
    0,
    firstNull === -1 ? given.length - 1 : Math.min(firstNull, given.length - 1),
  );
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
 * Returns the FROM clause for the row under a complete primary key. The key's parts are the
 * expressions `seen.k0`, `seen.k1` and so on.
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
