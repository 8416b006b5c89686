/**
 * How a row lies in a storage: its columns in one fixed order, each value in the form that is stored. Worked out once
 * for each collection, so that writing and reading a row is a walk over arrays.
 */
import {
  type Collection,
  type Column,
  columnsOf,
  type Index,
  type KeyValue,
  positionColumnOf,
} from "../../src/ports/collection.ts";
import { type Row, StorageRefusal } from "../../src/ports/storage.ts";

/** Booleans are stored as 0 and 1, JSON as its text. */
export type Stored = string | number | null;

export interface Layout {
  readonly collection: Collection;
  /** The columns as declared; then `version`, which all but counters have. */
  readonly columns: readonly string[];
  readonly versioned: boolean;
  /** The column that a log's rows get their position in. */
  readonly position: string | undefined;
  /** Where the column stands in `columns`. */
  place(column: string): number;
  /** @throws StorageRefusal a value doesn't fit its column. */
  encode(row: Row): Stored[];
  /** @throws StorageRefusal */
  encodeAt(place: number, row: Row): Stored;
  decode(values: readonly Stored[]): Row;
}

export function layoutOf(collection: Collection): Layout {
  const versioned = collection.kind !== "counter";
  const described: [string, Column][] = columnsOf(collection);
  if (versioned) {
    described.push(["version", { type: "integer", nullable: false, since: collection.since }]);
  }

  const columns = described.map(([name]) => name);
  const places = new Map(columns.map((name, place) => [name, place]));
  const encoders = described.map(([name, column]) => encoder(`${collection.name}.${name}`, column));
  const decoders = described.map(([, { type }]) => decoder(type));

  return {
    collection,
    columns,
    versioned,
    position: positionColumnOf(collection),
    place(column) {
      const place = places.get(column);
      if (place === undefined) throw new TypeError(`${collection.name} has no column ${column}`);
      return place;
    },
    encode: (row) => columns.map((name, place) => encoderAt(encoders, place)(row[name])),
    encodeAt: (place, row) => encoderAt(encoders, place)(row[columns[place] ?? ""]),
    decode(values) {
      const row: Record<string, unknown> = {};
      for (let place = 0; place < columns.length; place++) {
        const value = values[place] ?? null;
        const decode = decoders[place];
        row[columns[place] ?? ""] = decode === undefined || value === null ? value : decode(value);
      }
      return row;
    },
  };
}

/** The columns that order an index, after its own: those of the primary key that it lacks. */
export function orderOf({ columns, collection }: Index): readonly string[] {
  return [...columns, ...collection.primary.columns.filter((column) => !columns.includes(column))];
}

export function storedKey(key: readonly KeyValue[]): Stored[] {
  return key.map(storedValue);
}

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
        `${name} takes ${expected[type]}${nullable ? " or null" : ""}, not ${nameOf(value)}`,
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

// A lone surrogate has no UTF-8: a database would store another text than it was given.
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value.isWellFormed() ? value : undefined;
// Beyond 2^53 a number names no one integer. Adding 0 makes -0 the 0 that databases keep.
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
  if (type === "json") return (value) => JSON.parse(String(value)) as unknown;
  return undefined;
}

/** What kind of value came. Never the value: it may be personal. */
function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "text that is not";
  if (typeof value === "number") {
    return Number.isInteger(value) ? "an integer out of range" : "another number";
  }
  return `a value of type ${typeof value}`;
}
