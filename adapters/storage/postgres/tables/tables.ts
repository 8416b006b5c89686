import {
  columnsOf,
  type Collection,
  type Column,
  type ColumnType,
  type Index,
  type KeyValue,
  type Row,
} from "../../../../src/ports/index.ts";
import { sortColumns } from "../../index-order.ts";
import { columnType, isNullable, layoutOf, type Layout } from "../../layout.ts";
import { conditionSql, indexName, literal, namePrefix, quoted } from "../../sql.ts";
import type { Names } from "../names.ts";
import { arrayText, fromServer, sqlTypes, toText } from "./values.ts";

/** A collection's table. */
export class Table {
  readonly collection: Collection;
  readonly layout: Layout;
  /** The quoted name, with the schema. */
  readonly name: string;
  /** All columns, as the list of a SELECT. */
  readonly selected: string;
  readonly #types: readonly ColumnType[];

  constructor(collection: Collection, names: Names) {
    this.collection = collection;
    this.layout = layoutOf(collection);
    this.name = names.table(collection.name);
    const { columns } = this.layout;
    this.#types = columns.map((column) => columnType(collection, column));
    this.selected = columns
      // JSON is selected as text, because drivers parse JSON in different ways.
      .map((column, place) =>
        this.#types[place] === "json" ? `${quoted(column)}::text` : quoted(column),
      )
      .join(", ");
  }

  /** Returns a column's type. */
  type(column: string): ColumnType {
    return this.#types[this.layout.place(column)] ?? "text";
  }

  /** Returns the values of one column of several rows, as the text of an array. */
  columnText(column: string, rows: readonly Row[]): string {
    const { layout } = this;
    const place = layout.place(column);
    const type = this.#types[place] ?? "text";
    return arrayText(
      type,
      rows.map((row) => toText(type, layout.encodeAt(place, row))),
    );
  }

  /** Returns a row as the text of a JSON object, with each value in PostgreSQL's text format. */
  jsonText(row: Row): string {
    const { columns } = this.layout;
    const values = columns.map((column, place) => {
      const type = this.#types[place] ?? "text";
      return [column, toText(type, this.layout.encodeAt(place, row))];
    });
    return JSON.stringify(Object.fromEntries(values));
  }

  /** Converts a row from the server, whose values begin at place `from`. */
  decode(values: readonly unknown[], from = 0): Row {
    const stored = this.#types.map((type, place) => fromServer(type, values[from + place]));
    return this.layout.decode(stored);
  }
}

/**
 * Returns a column's part of ORDER BY. Nulls come first in ascending order, as the port specifies.
 * PostgreSQL's default is last.
 */
export function direction(collection: Collection, column: string, order: "ASC" | "DESC"): string {
  if (!isNullable(collection, column)) return `${quoted(column)} ${order}`;
  return `${quoted(column)} ${order} NULLS ${order === "ASC" ? "FIRST" : "LAST"}`;
}

/** Returns the statements that create a collection's table. */
export function createTable(collection: Collection, names: Names): string[] {
  const layout = layoutOf(collection);
  const name = names.table(collection.name);
  const columns = columnsOf(collection).map(([column, described]) => columnSql(column, described));
  if (layout.versioned) columns.push(`"version" bigint NOT NULL`);
  columns.push(`PRIMARY KEY (${collection.primary.columns.map(quoted).join(", ")})`);
  const table = `CREATE TABLE ${name} (\n  ${columns.join(",\n  ")}\n);`;
  return layout.position === undefined
    ? [table]
    : [table, createUnplacedIndex(collection, layout.position, names)];
}

/** Returns the statement that adds a column. */
export function addColumn(
  collection: Collection,
  name: string,
  column: Column,
  names: Names,
): string {
  return `ALTER TABLE ${names.table(collection.name)} ADD COLUMN ${columnSql(name, column)};`;
}

/** Returns the statement that creates an index. */
export function createIndex(index: Index, names: Names): string {
  const { collection, unique, where } = index;
  // The index also has the columns that order rows with an equal key. Otherwise these rows would
  // have to be sorted for each page.
  const columns = (unique ? index.columns : sortColumns(index)).map((column) =>
    direction(collection, column, "ASC"),
  );
  const condition = where === undefined ? "" : ` WHERE ${conditionSql(where)}`;
  return (
    `CREATE ${unique ? "UNIQUE " : ""}INDEX ${indexName(index)} ` +
    `ON ${names.table(collection.name)} (${columns.join(", ")})${condition};`
  );
}

/**
 * Indexes the rows that the host application's transactions wrote and that have no position yet
 * (`writes/positions.ts`). There are very few of them at any time.
 */
function createUnplacedIndex({ name }: Collection, position: string, names: Names): string {
  const index = quoted(`${namePrefix}${name}_unplaced`);
  const column = quoted(position);
  return `CREATE INDEX ${index} ON ${names.table(name)} (${column}) WHERE ${column} < 0;`;
}

function columnSql(name: string, { type, nullable, fill }: Column): string {
  // Text is ordered by code point, whatever the database's locale.
  const sqlType = type === "text" ? `text COLLATE "C"` : sqlTypes[type];
  const preset = fill === undefined || fill === null ? "" : ` DEFAULT ${fillSql(fill)}`;
  return `${quoted(name)} ${sqlType}${nullable ? "" : " NOT NULL"}${preset}`;
}

function fillSql(fill: Exclude<KeyValue, null>): string {
  return typeof fill === "string" ? literal(fill) : String(fill);
}
