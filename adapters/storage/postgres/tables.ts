import {
  type Collection,
  type Column,
  columnsOf,
  type ColumnType,
  type Condition,
  type Index,
  type KeyValue,
} from "../../../src/ports/collection.ts";
import type { Row } from "../../../src/ports/storage.ts";
import { type Layout, layoutOf, orderOf, type Stored } from "../layout.ts";
import { literal, type Names, prefix, quoted } from "./names.ts";
import { arrayText, fromServer, sqlTypes, toText } from "./values.ts";

/** The table of a collection. */
export class Table {
  readonly collection: Collection;
  readonly layout: Layout;
  /** With the schema, quoted. */
  readonly name: string;
  /** All columns, as a query selects them. */
  readonly selected: string;
  readonly #types: readonly ColumnType[];

  constructor(collection: Collection, names: Names) {
    this.collection = collection;
    this.layout = layoutOf(collection);
    this.name = names.table(collection.name);
    const { columns } = this.layout;
    this.#types = columns.map((column) => typeOf(collection, column));
    this.selected = columns
      // Every driver gives text as it is; what it makes of JSON is its own.
      .map((column, place) =>
        this.#types[place] === "json" ? `${quoted(column)}::text` : quoted(column),
      )
      .join(", ");
  }

  type(column: string): ColumnType {
    return this.#types[this.layout.place(column)] ?? "text";
  }

  /** A column of rows, as an array's text. */
  columnText(column: string, rows: readonly Row[]): string {
    const { layout } = this;
    const place = layout.place(column);
    const type = this.#types[place] ?? "text";
    return arrayText(
      type,
      rows.map((row) => toText(type, layout.encodeAt(place, row))),
    );
  }

  decode(values: readonly unknown[]): Row {
    const stored: Stored[] = [];
    for (const [place, type] of this.#types.entries()) stored.push(fromServer(type, values[place]));
    return this.layout.decode(stored);
  }
}

export function typeOf(collection: Collection, column: string): ColumnType {
  return columnNamed(collection, column)?.type ?? "integer";
}

export function isNullable(collection: Collection, column: string): boolean {
  return columnNamed(collection, column)?.nullable === true;
}

function columnNamed(collection: Collection, column: string): Column | undefined {
  return columnsOf(collection).find(([name]) => name === column)?.[1];
}

/** The columns that order an index's rows; nothing needs to follow what no two rows share. */
export function sortColumns(index: Index): readonly string[] {
  const { collection, columns, unique, where } = index;
  const present = where !== undefined && "present" in where ? where.column : undefined;
  if (unique && !columns.some((column) => column !== present && isNullable(collection, column))) {
    return columns;
  }
  const all = orderOf(index);
  const position = all.findIndex((column) => typeOf(collection, column) === "position");
  return position === -1 ? all : all.slice(0, position + 1);
}

/** Absent first, as the port wants: PostgreSQL would put it last. */
export function direction(collection: Collection, column: string, order: "ASC" | "DESC"): string {
  if (!isNullable(collection, column)) return `${quoted(column)} ${order}`;
  return `${quoted(column)} ${order} NULLS ${order === "ASC" ? "FIRST" : "LAST"}`;
}

export function conditionSql(where: Condition): string {
  const column = quoted(where.column);
  return "in" in where
    ? `${column} IN (${where.in.map(literal).join(", ")})`
    : `${column} IS NOT NULL`;
}

export function createTable(collection: Collection, names: Names): string[] {
  const { layout } = new Table(collection, names);
  const name = names.table(collection.name);
  const columns = columnsOf(collection).map(([column, described]) => columnSql(column, described));
  if (layout.versioned) columns.push(`"version" bigint NOT NULL`);
  const key = collection.primary.columns.map(quoted).join(", ");
  const table = `CREATE TABLE ${name} (\n  ${[...columns, `PRIMARY KEY (${key})`].join(",\n  ")}\n);`;
  return layout.position === undefined
    ? [table]
    : [table, createUnplacedIndex(collection, layout.position, names)];
}

export function addColumn(
  collection: Collection,
  name: string,
  column: Column,
  names: Names,
): string {
  return `ALTER TABLE ${names.table(collection.name)} ADD COLUMN ${columnSql(name, column)};`;
}

export function createIndex(index: Index, names: Names): string {
  const { collection, unique, where, name } = index;
  // What orders the rows last is in the index too, or many rows under one key would have to be sorted for each page.
  const columns = (unique ? index.columns : sortColumns(index)).map((column) =>
    direction(collection, column, "ASC"),
  );
  const condition = where === undefined ? "" : ` WHERE ${conditionSql(where)}`;
  return (
    `CREATE ${unique ? "UNIQUE " : ""}INDEX ${quoted(`${prefix}${collection.name}_${name}`)} ` +
    `ON ${names.table(collection.name)} (${columns.join(", ")})${condition};`
  );
}

/** What a host's transaction wrote and has no position yet (`positions.ts`): next to nothing, at any time. */
function createUnplacedIndex({ name }: Collection, position: string, names: Names): string {
  const index = quoted(`${prefix}${name}_unplaced`);
  return `CREATE INDEX ${index} ON ${names.table(name)} (${quoted(position)}) WHERE ${quoted(position)} < 0;`;
}

function columnSql(name: string, { type, nullable, fill }: Column): string {
  // Texts are ordered by code point, whatever the database's language.
  const sqlType = type === "text" ? `text COLLATE "C"` : sqlTypes[type];
  const preset = fill === undefined || fill === null ? "" : ` DEFAULT ${fillSql(fill)}`;
  return `${quoted(name)} ${sqlType}${nullable ? "" : " NOT NULL"}${preset}`;
}

function fillSql(fill: Exclude<KeyValue, null>): string {
  return typeof fill === "string" ? literal(fill) : String(fill);
}
