/**
 * How an adapter stores a row: its columns in a fixed order, each value in its stored form. The
 * layout is computed once for each collection, so that encoding or decoding a row is a loop over
 * arrays.
 */
import { getOrInsert } from "../../src/kernel/index.ts";
import {
  columnsOf,
  positionColumnOf,
  StorageRefusal,
  type Collection,
  type Column,
  type ColumnType,
  type KeyValue,
  type Row,
} from "../../src/ports/index.ts";

/** A stored value. Booleans are stored as 0 and 1, JSON as text. */
export type Stored = string | number | null;

/** The layout of a collection's rows. */
export interface Layout {
  readonly collection: Collection;
  /** The declared columns, followed by `version`. Counters have no `version`. */
  readonly columns: readonly string[];
  readonly versioned: boolean;
  /** The column that holds a log's position. Undefined for a collection that is not a log. */
  readonly position: string | undefined;
  /** Returns a column's place in `columns`. */
  place(column: string): number;
  /**
   * Encodes a row. `position` replaces the row's own, for a row that is new in a log.
   * @throws StorageRefusal when a value does not fit its column
   */
  encode(row: Row, position?: number): Stored[];
  /** @throws StorageRefusal when the value does not fit its column */
  encodeAt(place: number, row: Row): Stored;
  decode(values: readonly Stored[]): Row;
}

/** Whether a column can hold null. */
export function isNullable(collection: Collection, column: string): boolean {
  return collection.columns[column]?.nullable === true;
}

/** Returns a column's type. The version is an integer. */
export function columnType(collection: Collection, column: string): ColumnType {
  return collection.columns[column]?.type ?? "integer";
}

const layouts = new WeakMap<Collection, Layout>();

/** Returns the layout of a collection's rows. All storages of a process share it. */
export function layoutOf(collection: Collection): Layout {
  return getOrInsert(layouts, collection, () => createLayout(collection));
}

function createLayout(collection: Collection): Layout {
  const versioned = collection.kind !== "counter";
  const allColumns: [string, Column][] = columnsOf(collection);
  if (versioned) {
    allColumns.push(["version", { type: "integer", nullable: false, since: collection.since }]);
  }

  const positionColumn = positionColumnOf(collection);
  const columns = allColumns.map(([name]) => name);
  const places = new Map(columns.map((name, place) => [name, place]));
  const encoders = allColumns.map(([name, column]) =>
    encoder(`${collection.name}.${name}`, column),
  );
  const decoders = allColumns.map(([, { type }]) => decoder(type));
  // Filling a copy of an object that has all columns keeps the row's shape. V8 turns an object that
  // grows by computed names into a hash table, which takes many times longer to copy and to read.
  // `Object.assign` copies it by shape. A spread would copy it column by column, because V8 gives
  // up on one that copies objects of more than four shapes.
  const blank = blankRow(columns);
  const blankValues = columns.map((): Stored => null);

  return {
    collection,
    columns,
    versioned,
    position: positionColumn,
    place(column) {
      const place = places.get(column);
      if (place === undefined) throw new TypeError(`${collection.name} has no column ${column}`);
      return place;
    },
    encode(row, position) {
      const values = [...blankValues];
      for (let place = 0; place < columns.length; place++) {
        const name = columns[place] ?? "";
        const value = name === positionColumn ? (position ?? row[name]) : row[name];
        values[place] = encoderAt(encoders, place)(value);
      }
      return values;
    },
    encodeAt: (place, row) => encoderAt(encoders, place)(row[columns[place] ?? ""]),
    decode(values) {
      const row: Record<string, unknown> = Object.assign({}, blank);
      for (let place = 0; place < columns.length; place++) {
        const value = values[place] ?? null;
        if (value === null) continue;
        const decode = decoders[place];
        row[columns[place] ?? ""] = decode === undefined ? value : decode(value);
      }
      return row;
    },
  };
}

function blankRow(columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((column) => [column, null]));
}

/** Converts the values of a key to their stored form. */
export function storedKey(key: readonly KeyValue[]): Stored[] {
  return key.map(storedValue);
}

/** Converts a value of a key to its stored form. */
export function storedValue(value: KeyValue): Stored {
  return typeof value === "boolean" ? Number(value) : value;
}

type Encode = (value: unknown) => Stored;

function encoderAt(encoders: readonly Encode[], place: number): Encode {
  const encode = encoders[place];
  if (encode === undefined) throw new RangeError(`no column ${place}`);
  return encode;
}

function encoder(name: string, { type, nullable }: Column): Encode {
  const encode = encodersByType[type];
  return (value) => {
    if (value === null && nullable) return null;
    const stored = encode(value);
    if (stored === undefined) {
      throw new StorageRefusal(
        `${name}: expected ${expected[type]}${nullable ? " or null" : ""}, got ${kindOf(value)}`,
      );
    }
    return stored;
  };
}

const expected = {
  text: "well-formed text",
  integer: "an integer within ±2^53",
  time: "integer milliseconds",
  position: "an integer",
  real: "a finite number",
  boolean: "a boolean",
  json: "a JSON value",
} as const satisfies Record<Column["type"], string>;

// A lone surrogate has no UTF-8 form, so a database would store a different text.
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.isWellFormed() ? value : undefined;
// Above 2^53, several integers share one number. Adding 0 turns -0 into the 0 that databases store.
const integer = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? Number(value) + 0 : undefined;

const encodersByType: Readonly<Record<Column["type"], (value: unknown) => Stored | undefined>> = {
  text,
  integer,
  time: integer,
  position: integer,
  real: (value) => (typeof value === "number" && Number.isFinite(value) ? value + 0 : undefined),
  boolean: (value) => (typeof value === "boolean" ? Number(value) : undefined),
  json(value) {
    try {
      return JSON.stringify(value);
    } catch {
      return undefined;
    }
  },
};

function decoder(type: Column["type"]): ((value: string | number) => unknown) | undefined {
  if (type === "boolean") return (value) => value === 1;
  if (type === "json") return parseJson;
  return undefined;
}

/** Most lists and maps of a row are empty. They need no parser. */
function parseJson(value: string | number): unknown {
  if (value === "[]") return [];
  return value === "{}" ? {} : (JSON.parse(String(value)) as unknown);
}

/** Describes the kind of a value. The value itself may be personal data, so it is not shown. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "text with a lone surrogate";
  if (typeof value === "number") {
    return Number.isInteger(value) ? "an integer out of range" : "a number that is not an integer";
  }
  return `a value of type ${typeof value}`;
}
