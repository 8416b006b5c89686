/** What the SQL of both databases has in common. */
import type { Condition, Index } from "../../src/ports/index.ts";

/** The beginning of the names of tables, indexes and channels. */
export const namePrefix = "tidings_";

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name}"`;

/** Quotes a text for SQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns the condition of a partial index. */
export function conditionSql(where: Condition): string {
  const column = quoted(where.column);
  return "in" in where
    ? `${column} IN (${where.in.map(literal).join(", ")})`
    : `${column} IS NOT NULL`;
}

/** Returns the name of an index, which is unique in the database. */
export function indexName(
  { collection, name }: Pick<Index, "collection" | "name">,
  ...parts: readonly string[]
): string {
  return quoted([`${namePrefix}${collection.name}`, name, ...parts].join("_"));
}

/** Returns a list of columns. */
export function columnList(columns: readonly string[]): string {
  return columns.map(quoted).join(", ");
}

/** Returns a WHERE clause, or nothing without conditions. */
export function whereClause(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}

/** Returns the condition that all of the conditions are true. */
export function allOf(conditions: readonly string[]): string {
  return `(${conditions.join(" AND ")})`;
}
