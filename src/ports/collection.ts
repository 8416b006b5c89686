/**
 * Collections describe the data that the engine stores. A storage adapter derives its tables,
 * columns and indexes from them, so a host application can join `tidings_messages.status` like any
 * column. The types of the rows derive from them too.
 *
 * Each collection, column and index has the schema version that introduced it (`since`). A
 * migration from version k adds everything with a higher `since`. Nothing is ever removed.
 */
import type { Scope } from "../kernel/index.ts";

/**
 * The values of a column. A storage refuses all others with a `StorageRefusal`.
 * - `text`: any string without a lone surrogate. It sorts by code point, and may contain NUL.
 * - `integer`: a safe integer. `real`: a finite number. `boolean`: `true` or `false`.
 * - `time`: milliseconds since the Unix epoch, a safe integer.
 * - `json`: what `JSON.parse` returns, read as it was written.
 * - `position`: an integer that the storage assigns in commit order.
 */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "time" | "json" | "position";

/** A value in a column of a key or an index. An absent value is `null`, never `undefined`. */
export type KeyValue = string | number | boolean | null;

/** A column. `T` is the type of its values. */
export interface Column<T = unknown> {
  /** The type of the values. */
  readonly type: ColumnType;
  /** Whether values can be null. */
  readonly nullable: boolean;
  /** The schema version that introduced the column. */
  readonly since: number;
  /**
   * The value in rows that were written before `since`. For a column of type `json`, the JSON text
   * of the value. Required if the column is added later and not nullable.
   */
  readonly fill?: KeyValue;
  /** Never set. Carries the type of the values. */
  readonly value?: T;
}

/** The columns of a collection, by name. */
export interface Columns {
  readonly [name: string]: Column;
}

/** A row that has a value for each of the columns. */
export type RowOfColumns<C extends Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never;
};

/** The row type of a collection: `export interface NoteRow extends RowOf<typeof notes> {}`. */
export type RowOf<C extends { readonly row?: object }> = NonNullable<C["row"]>;

/** Limits an index to the rows whose `column` is one of `in` or is not null. */
export type Condition =
  | {
      /** The name of the column. */
      readonly column: string;
      /** The values of the rows that the index contains. */
      readonly in: readonly string[];
    }
  | {
      /** The name of the column. */
      readonly column: string;
      /** The index contains the rows in which the column is not null. */
      readonly present: true;
    };

/** An index over `columns`. `K` is the tuple of their types. */
export interface Index<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> {
  /** The collection that the index belongs to. */
  readonly collection: Collection<R>;
  /** The name of the index, unique in its collection. */
  readonly name: string;
  /** The names of the indexed columns, in the order of the index. */
  readonly columns: readonly string[];
  /** Whether at most one row may have each key. A key that contains null may repeat. */
  readonly unique: boolean;
  /** The rows that the index contains. Undefined for all rows. */
  readonly where: Condition | undefined;
  /** The schema version that introduced the index. */
  readonly since: number;
  /** How the index separates accounts and modes. */
  readonly scoping: Scoping;
  /** Never set. Carries the type of the key. */
  readonly key?: K;
}

/**
 * How an index separates the rows of one account and mode from all others.
 * - `key`: its columns begin with `account_id` and `mode`.
 * - `row`: its first column is an id, which is unique across scopes, so the index omits
 *   `account_id` and `mode`. A scoped read must check the scope of the rows.
 * - `none`: it spans all scopes. Scoped reads cannot use it.
 */
export type Scoping = "key" | "row" | "none";

/** An index in which at most one row has each key. */
export interface UniqueIndex<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, K> {
  /** At most one row has each key. */
  readonly unique: true;
}

/**
 * An index that can be read within a scope. `K` is its key within the scope. `F` is its full key,
 * including `account_id` and `mode` if the index has them.
 */
export interface ScopedIndex<
  R extends Scope = Scope,
  K extends readonly KeyValue[] = readonly KeyValue[],
  F extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, F> {
  readonly collection: ScopedCollection<R>;
  readonly scoping: "key" | "row";
  /** Never set. Carries the type of the key within a scope. */
  readonly ownKey?: K;
}

/** A unique index that can be read within a scope. */
export interface ScopedUniqueIndex<
  R extends Scope = Scope,
  K extends readonly KeyValue[] = readonly KeyValue[],
  F extends readonly KeyValue[] = readonly KeyValue[],
> extends ScopedIndex<R, K, F> {
  /** At most one row has each key. */
  readonly unique: true;
}

/**
 * How a collection is written.
 * - `rows`: rows are inserted, updated and removed under a version guard. With a column of type
 *   `position` the collection is a log, whose rows get positions in commit order. A row that a
 *   transaction of the host application wrote may have a negative one, and be in no range of the
 *   log, until a reader reaches the end of the log.
 * - `queue`: like `rows`, and commands may lock the rows as they read them (`Lookup.lock`). Commits
 *   lock the rows of queues before other rows. So a commit that waits for such a row holds only
 *   rows of queues.
 * - `counter`: rows hold sums. Commands add to them without reading them, so concurrent commands do
 *   not conflict.
 */
export type CollectionKind = "rows" | "queue" | "counter";

/** A set of rows of one shape: a table in a database. */
export interface Collection<R extends object = object> {
  /** The name, such as `messages`. An adapter derives the table's name from it. */
  readonly name: string;
  /** How the collection is written. */
  readonly kind: CollectionKind;
  /** Whether each row belongs to one account and mode. */
  readonly isScoped: boolean;
  /** The columns, by name. */
  readonly columns: Columns;
  /** The primary key. */
  readonly primary: UniqueIndex<R>;
  /** All indexes except the primary key. */
  readonly indexes: readonly Index<R>[];
  /** The indexes for full-text search. */
  readonly wordIndexes: readonly WordIndex<R>[];
  /** The schema version that introduced the collection. */
  readonly since: number;
  /** Never set. Carries the type of the rows. */
  readonly row?: R;
}

/** A collection in which each row belongs to one account and mode. */
export interface ScopedCollection<R extends Scope = Scope> extends Collection<R> {
  readonly isScoped: true;
  readonly primary: ScopedUniqueIndex<R>;
}

/** The columns of a new row within a scope, which sets the account and mode. */
export type ScopedColumns<R extends Scope> = Omit<R, keyof Scope>;

/**
 * Finds rows by the words in a nullable text column. The words consist of lower-case letters and
 * digits, are separated by single spaces and have at most 100 characters. Rows with null are not
 * indexed.
 */
export interface WordIndex<R extends object = object> {
  /** The collection that the index belongs to. */
  readonly collection: Collection<R>;
  /** The name of the index, unique in its collection. */
  readonly name: string;
  /** The name of the column with the words. */
  readonly column: string;
  /** The schema version that introduced the index. */
  readonly since: number;
}

/** A stored row. `version` changes with each write and guards the next write. */
export type Seen<R extends object> = Readonly<R> & { readonly version: number };

/** All collections of one version of the code. */
export interface Schema {
  /** The version of the collections, and of what adapters store beside them. */
  readonly version: number;
  /** The collections. */
  readonly collections: readonly Collection[];
}

export const columnsOf = ({
  columns,
}: Pick<Collection, "columns">): [name: string, column: Column][] => Object.entries(columns);

/** Returns the position column of a log, or undefined if the collection is not a log. */
export function positionColumnOf({ columns }: Pick<Collection, "columns">): string | undefined {
  return Object.keys(columns).find((name) => columns[name]?.type === "position");
}

/** Returns the schema of `collections`. Its version is the highest `since` in them. */
export function schemaOf(collections: readonly Collection[]): Schema {
  const versions = collections.flatMap(({ since, columns, indexes, wordIndexes }) => [
    since,
    ...columnsOf({ columns }).map(([, each]) => each.since),
    ...indexes.map((each) => each.since),
    ...wordIndexes.map((each) => each.since),
  ]);
  return { version: Math.max(...versions), collections };
}

/** Returns the primary key of a row. */
export function keyOf(collection: Collection, row: object): KeyValue[] {
  return collection.primary.columns.map((each) => Reflect.get(row, each) as KeyValue);
}

/** Returns the primary key of a row without `account_id` and `mode`. */
export function scopedKeyOf(collection: ScopedCollection, row: object): KeyValue[] {
  const key = keyOf(collection, row);
  return collection.primary.scoping === "key" ? key.slice(2) : key;
}

/**
 * Returns the columns that order the rows of an index: its own, followed by those of the primary
 * key that it lacks.
 */
export function orderOf({ columns, collection }: Index): readonly string[] {
  return [...columns, ...collection.primary.columns.filter((column) => !columns.includes(column))];
}
