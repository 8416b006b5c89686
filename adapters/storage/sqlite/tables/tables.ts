import { getOrInsert } from "../../../../src/kernel/index.ts";
import {
  columnsOf,
  positionColumnOf,
  type Collection,
  type Column,
  type Index,
} from "../../../../src/ports/index.ts";
import { sortColumns } from "../../index-order.ts";
import { columnType, layoutOf, type Layout } from "../../layout.ts";
import type { Addition } from "../../schema-versions.ts";
import { columnList, conditionSql, indexName, literal, namePrefix, quoted } from "../../sql.ts";

/** Returns the quoted name of a collection's table. */
export const tableName = ({ name }: Collection): string => quoted(namePrefix + name);

/** A collection's table, and the SQL of the statements that do not depend on the values written. */
export class Table {
  readonly layout: Layout;
  readonly name: string;
  readonly insert: string;
  readonly remove: string;
  readonly hold: string;
  readonly add: string;
  readonly #updates = new Map<string, Update>();

  constructor(collection: Collection) {
    this.layout = layoutOf(collection);
    this.name = tableName(collection);
    const { columns, versioned } = this.layout;
    const key = collection.primary.columns;
    const guard = [...key, ...(versioned ? ["version"] : [])]
      .map((column) => `${quoted(column)} = ?`)
      .join(" AND ");
    const sums = columns.filter((column) => !key.includes(column)).map(quoted);
    const values = columns.map(() => "?").join(", ");
    this.insert = `INSERT INTO ${this.name} (${columnList(columns)}) VALUES (${values})`;
    this.remove = `DELETE FROM ${this.name} WHERE ${guard}`;
    this.hold = `SELECT 1 FROM ${this.name} WHERE ${guard}`;
    const added = sums.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
    this.add = `${this.insert} ON CONFLICT (${columnList(key)}) DO UPDATE SET ${added}`;
  }

  /**
   * Returns the statement that writes some columns and the version. It is guarded by key and
   * version.
   */
  update(changed: readonly string[]): Update {
    return getOrInsert(this.#updates, changed.join(), () => {
      const columns = [...new Set([...changed, "version"])];
      const assignments = columns.map((column) => `${quoted(column)} = ?`);
      const guard = [...this.layout.collection.primary.columns, "version"].map(
        (column) => `${quoted(column)} = ?`,
      );
      return {
        sql: `UPDATE ${this.name} SET ${assignments.join(", ")} WHERE ${guard.join(" AND ")}`,
        places: columns.map((column) => this.layout.place(column)),
      };
    });
  }
}

/** An UPDATE statement and the values that it takes. */
export interface Update {
  readonly sql: string;
  /**
   * The places of the columns whose values come first. The values of the key and the version
   * follow.
   */
  readonly places: readonly number[];
}

/**
 * Returns the statement that creates a collection's table. The order of its rows on disk depends on
 * its use:
 * - A log is ordered by position, so that reading its end is a scan along the table.
 * - A collection with a word index is ordered by a rowid, because FTS5 refers to rows by rowid.
 * - Every other table is ordered by its primary key (WITHOUT ROWID). Compared with a rowid and a
 *   unique index, writing is as fast and the file is 10 % smaller.
 */
export function createTable(collection: Collection, name: string = tableName(collection)): string {
  const columns = columnsOf(collection).map(([column, described]) => columnSql(column, described));
  if (collection.kind !== "counter") columns.push(`"version" INTEGER NOT NULL`);
  if (isOrderedByKey(collection)) {
    columns.push(`PRIMARY KEY (${columnList(collection.primary.columns)})`);
    return `CREATE TABLE ${name} (${columns.join(", ")}) STRICT, WITHOUT ROWID;`;
  }
  // A rowid that is not declared as a column may change in a VACUUM (SQLite manual, "VACUUM").
  if (!isLog(collection)) columns.unshift(`${rowidColumn(collection)} INTEGER PRIMARY KEY`);
  return `CREATE TABLE ${name} (${columns.join(", ")}) STRICT;`;
}

/** Returns the statement that adds a column. */
export function addColumn(collection: Collection, name: string, column: Column): string {
  return `ALTER TABLE ${tableName(collection)} ADD COLUMN ${columnSql(name, column)};`;
}

/** Returns the statement that creates an index, or undefined when the table itself is the index. */
export function createIndex(index: Index): string | undefined {
  if (isTableOrder(index)) return undefined;
  const { collection, unique, where } = index;
  // In a table that is ordered by key, each index ends with the primary key. In any other table,
  // the index has to name these columns.
  const columns = isOrderedByKey(collection) || unique ? index.columns : sortColumns(index);
  const condition = where === undefined ? "" : ` WHERE ${conditionSql(where)}`;
  return (
    `CREATE ${unique ? "UNIQUE " : ""}INDEX ${indexName(index)} ` +
    `ON ${tableName(collection)} (${columnList(columns)})${condition};`
  );
}

/**
 * Returns the clause that makes a query use the index. Without it, the query plan would depend on
 * how full the tables were when it was made.
 */
export function indexedBy(index: Index): string {
  if (isPositionIndex(index)) return "NOT INDEXED";
  return isTableOrder(index) ? "" : `INDEXED BY ${indexName(index)}`;
}

const isLog = (collection: Collection): boolean => positionColumnOf(collection) !== undefined;

const isOrderedByKey = (collection: Collection): boolean =>
  !isLog(collection) && collection.wordIndexes.length === 0;

/** Returns the rowid column of a table that is not ordered by its key. */
export function rowidColumn(collection: Collection): string {
  return quoted(positionColumnOf(collection) ?? "number");
}

/**
 * Whether a migration has to add a rowid: the table was created in key order, and now gets its
 * first word index.
 */
export function needsRowid({ collection, isNew, wordIndexes }: Addition): boolean {
  const isFirst = wordIndexes.length > 0 && wordIndexes.length === collection.wordIndexes.length;
  return !isNew && !isLog(collection) && isFirst;
}

/** Whether the table's own order is the index. */
function isTableOrder(index: Index): boolean {
  return (
    isPositionIndex(index) ||
    (index === index.collection.primary && isOrderedByKey(index.collection))
  );
}

function isPositionIndex({ columns, collection, where }: Index): boolean {
  const [column = ""] = columns;
  return (
    columns.length === 1 && where === undefined && columnType(collection, column) === "position"
  );
}

function columnSql(name: string, { type, nullable, fill }: Column): string {
  if (type === "position") return `${quoted(name)} INTEGER PRIMARY KEY`;
  const sqlType =
    type === "text" || type === "json" ? "TEXT" : type === "real" ? "REAL" : "INTEGER";
  const preset = fill === undefined || fill === null ? "" : ` DEFAULT ${fillSql(fill)}`;
  return `${quoted(name)} ${sqlType}${nullable ? "" : " NOT NULL"}${preset}`;
}

function fillSql(fill: string | number | boolean): string {
  return typeof fill === "string" ? literal(fill) : String(Number(fill));
}
