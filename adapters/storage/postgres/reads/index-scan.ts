/**
 * Ties a query to one index. PostgreSQL has no index hints, and plans a prepared statement once,
 * maybe while a table is empty and all plans cost the same. So the rows are ordered by columns that
 * only the wanted index has in this order, and sorting is disabled (`transactions/settings.ts`).
 *
 * The order begins with the last column of a given key. With `=`, PostgreSQL would know that this
 * column is constant and would drop it from the order, so other indexes would fit too. The column
 * is therefore compared with `>=` and `<=`.
 */
import { orderOf, type Collection, type Index } from "../../../../src/ports/index.ts";
import { sortColumns } from "../../index-order.ts";
import { conditionSql, quoted, whereClause } from "../../sql.ts";
import { direction, type Table } from "../tables/tables.ts";

/** The SQL expression of a given value of an index's leading columns. Null for a null. */
export type GivenValue = string | null;

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
    ...given.flatMap((sql, i) => {
      const column = columns[i] ?? "";
      if (sql === null) return [`${column} IS NULL`];
      return i < given.length - 1
        ? [`${column} = ${sql}`]
        : ends.map((end) => `${column} ${end} ${sql}`);
    }),
    ...(index.where === undefined ? [] : [conditionSql(index.where)]),
    // A log's row without a position has a negative number there (`writes/positions.ts`). Such a
    // row is left out.
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
  const firstNull = given.indexOf(null);
  const from = firstNull === -1 ? Math.max(0, given.length - 1) : firstNull;
  const isUnique = index.unique && firstNull === -1 && given.length >= index.columns.length;
  const columns = (isUnique ? orderOf(index).slice(0, given.length) : sortColumns(index)).slice(
    from,
  );
  if (columns.length === 0) return "";
  const directions = columns.map((column) => direction(index.collection, column, order));
  return ` ORDER BY ${directions.join(", ")}`;
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
  const given = primary.columns.map((_, i) => `seen.k${i}`);
  const conditions = [...scanConditions({ ...primary, where: undefined }, table, given), ...more];
  return `FROM ${table.name}${whereClause(conditions)}${scanOrder(primary, given, "ASC")} LIMIT 1`;
}
