import {
  type Collection,
  type Column,
  columnsOf,
  type Condition,
  type Index,
  positionColumnOf,
} from "../../../src/ports/collection.ts";
import { type Layout, layoutOf, orderOf } from "../layout.ts";
import type { Addition } from "../schema.ts";

export const prefix = "tidings_";

export const quoted = (name: string): string => `"${name}"`;
export const tableName = ({ name }: Collection): string => quoted(prefix + name);
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The table of a collection, and the text of the statements that don't depend on their values. */
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
    this.insert = `INSERT INTO ${this.name} (${list(columns)}) VALUES (${columns.map(() => "?").join(", ")})`;
    this.remove = `DELETE FROM ${this.name} WHERE ${guard}`;
    this.hold = `SELECT 1 FROM ${this.name} WHERE ${guard}`;
    const added = sums.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");
    this.add = `${this.insert} ON CONFLICT (${list(key)}) DO UPDATE SET ${added}`;
  }

  /** The statement that writes these columns and the version, guarded by key and version. */
  update(changed: readonly string[]): Update {
    const id = changed.join();
    let update = this.#updates.get(id);
    if (update === undefined) {
      const columns = [...new Set([...changed, "version"])];
      const guard = [...this.layout.collection.primary.columns, "version"].map(
        (column) => `${quoted(column)} = ?`,
      );
      update = {
        sql:
          `UPDATE ${this.name} SET ${columns.map((column) => `${quoted(column)} = ?`).join(", ")} ` +
          `WHERE ${guard.join(" AND ")}`,
        places: columns.map((column) => this.layout.place(column)),
      };
      this.#updates.set(id, update);
    }
    return update;
  }
}

export interface Update {
  readonly sql: string;
  /** Which columns' values come first; the key and the version follow. */
  readonly places: readonly number[];
}

/**
 * A log lies in the order of its positions, so that reading its tail is a walk along the table; what is found by words, in that of the
 * numbers that FTS5 knows its rows by. All else lies in the order of its primary key: measured against a rowid beside a unique index,
 * writing is as fast and the file a tenth smaller.
 */
export function createTable(collection: Collection, name: string = tableName(collection)): string {
  const columns = columnsOf(collection).map(([column, described]) => columnSql(column, described));
  if (collection.kind !== "counter") columns.push(`"version" INTEGER NOT NULL`);
  if (liesByKey(collection)) {
    columns.push(`PRIMARY KEY (${list(collection.primary.columns)})`);
    return `CREATE TABLE ${name} (${columns.join(", ")}) STRICT, WITHOUT ROWID;`;
  }
  // One that is not declared may change when the file is vacuumed (SQLite manual, "VACUUM").
  if (!isLog(collection)) columns.unshift(`${numberColumn(collection)} INTEGER PRIMARY KEY`);
  return `CREATE TABLE ${name} (${columns.join(", ")}) STRICT;`;
}

export function addColumn(collection: Collection, name: string, column: Column): string {
  return `ALTER TABLE ${tableName(collection)} ADD COLUMN ${columnSql(name, column)};`;
}

/** The statement that makes an index; none for one that the table itself is. */
export function createIndex(index: Index): string | undefined {
  if (isTable(index)) return undefined;
  const { collection, unique, where } = index;
  // A table that doesn't lie by its primary key: its indexes name what orders their rows last.
  const columns = liesByKey(collection) || unique ? index.columns : sortColumns(index);
  const condition = where === undefined ? "" : ` WHERE ${conditionSql(where)}`;
  return (
    `CREATE ${unique ? "UNIQUE " : ""}INDEX ${indexName(index)} ` +
    `ON ${tableName(collection)} (${list(columns)})${condition};`
  );
}

/** How a query is told which index to walk: a plan must not depend on how full the tables were when it was made. */
export function indexedBy(index: Index): string {
  if (isPosition(index)) return "NOT INDEXED";
  return isTable(index) ? "" : `INDEXED BY ${indexName(index)}`;
}

/** The columns that order an index's rows; nothing needs to follow a position, which no two rows share. */
export function sortColumns(index: Index): readonly string[] {
  const columns = orderOf(index);
  const position = columns.findIndex((column) => typeOf(index.collection, column) === "position");
  return position === -1 ? columns : columns.slice(0, position + 1);
}

export function conditionSql(where: Condition): string {
  const column = quoted(where.column);
  return "in" in where
    ? `${column} IN (${where.in.map(literal).join(", ")})`
    : `${column} IS NOT NULL`;
}

export function isNullable(collection: Collection, column: string): boolean {
  return columnNamed(collection, column)?.nullable === true;
}

function typeOf(collection: Collection, column: string): Column["type"] | undefined {
  return columnNamed(collection, column)?.type;
}

function columnNamed(collection: Collection, column: string): Column | undefined {
  return columnsOf(collection).find(([name]) => name === column)?.[1];
}

const isLog = (collection: Collection): boolean => positionColumnOf(collection) !== undefined;

const liesByKey = (collection: Collection): boolean =>
  !isLog(collection) && collection.wordIndexes.length === 0;

/** The number of each row of a table that doesn't lie by its key. */
export function numberColumn(collection: Collection): string {
  return quoted(positionColumnOf(collection) ?? "number");
}

/** Whether a table was made to lie by its key, which it can no longer do with the first index of words. */
export function mustBeNumbered({ collection, isNew, wordIndexes }: Addition): boolean {
  const isFirst = wordIndexes.length > 0 && wordIndexes.length === collection.wordIndexes.length;
  return !isNew && !isLog(collection) && isFirst;
}

/** Whether the table itself is the index. */
function isTable(index: Index): boolean {
  return isPosition(index) || (index === index.collection.primary && liesByKey(index.collection));
}

function isPosition({ columns, collection, where }: Index): boolean {
  const [column = ""] = columns;
  return columns.length === 1 && where === undefined && typeOf(collection, column) === "position";
}

function indexName({ collection, name }: Index): string {
  return quoted(`${prefix}${collection.name}_${name}`);
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

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(", ");
}
