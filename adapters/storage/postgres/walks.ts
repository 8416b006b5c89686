/**
 * How a query is tied to one index, which PostgreSQL can't be told by name: a prepared statement is planned once, maybe while a table is
 * empty and all ways cost the same. So the last of the columns that are given is not said to be equal but to be no less and no
 * more, and the rows are wanted in the order from there on: that order only the one index has, and sorting is off the list
 * (`settings.ts`).
 */
import type { Collection, Index } from "../../../src/ports/collection.ts";
import { orderOf } from "../layout.ts";
import { quoted } from "./names.ts";
import { conditionSql, direction, sortColumns, type Table } from "./tables.ts";

/** The beginning of an index's order that is given; for each column whether it is null, and the SQL of its value if not. */
export interface Given {
  readonly isNull: boolean;
  readonly sql: string;
}

/** `ends`: which ends of the last given column's value are to be said here; the others are in a bound that the caller adds. */
export function walkConditions(
  index: Index,
  table: Pick<Table, "layout">,
  given: readonly Given[],
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
    // Rows of a log are in its order when they have a position.
    ...(position !== undefined && index.columns.includes(position)
      ? [`${quoted(position)} > 0`]
      : []),
  ];
}

export function walkOrder(index: Index, given: readonly Given[], order: "ASC" | "DESC"): string {
  // PostgreSQL doesn't see that a column which is null in all rows orders nothing.
  const firstNull = given.findIndex(({ isNull }) => isNull);
  const from = Math.max(
    0,
    firstNull === -1 ? given.length - 1 : Math.min(firstNull, given.length - 1),
  );
  const one = index.unique && firstNull === -1 && given.length >= index.columns.length;
  const columns = (one ? orderOf(index).slice(0, given.length) : sortColumns(index)).slice(from);
  if (columns.length === 0) return "";
  return ` ORDER BY ${columns.map((column) => direction(index.collection, column, order)).join(", ")}`;
}

export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** The row under a whole primary key, whose parts have the SQL `k0`, `k1` …; what is selected of it is the caller's. */
export function keyWalk(
  table: Table,
  { primary }: Collection,
  more: readonly string[] = [],
): string {
  const given = primary.columns.map((_, i) => ({ isNull: false, sql: `seen.k${i}` }));
  const conditions = [...walkConditions({ ...primary, where: undefined }, table, given), ...more];
  return `FROM ${table.name}${where(conditions)}${walkOrder(primary, given, "ASC")} LIMIT 1`;
}
