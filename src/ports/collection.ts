import type { AccountId, Mode, Scope } from "../kernel/index.ts";

/**
 * Collections describe the data that the engine stores. A storage adapter derives its tables, columns
 * and indexes from them, so a host application can join `tidings_messages.status` like any column. The
 * types of the rows derive from them too.
 *
 * Each collection, column and index has the schema version that introduced it (`since`). A migration
 * from version k adds everything with a higher `since`. Nothing is ever removed.
 */

/** `time` is milliseconds since the Unix epoch. The storage assigns `position` in commit order. */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "time" | "json" | "position";

/** A value in a column of a key or an index. An absent value is `null`, never `undefined`. */
export type KeyValue = string | number | boolean | null;

/** A column. `T` is the type of its values. */
export interface Column<T = unknown> {
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly since: number;
  /** The value of rows written before `since`. Required if the column is added later and not nullable. */
  readonly fill?: KeyValue;
  /** Never set. Carries the type of the values. */
  readonly value?: T;
}

/** The columns of a collection, by name. */
export interface Columns {
  readonly [name: string]: Column;
}

/** A row that has a value for each of the columns. */
type RowOfColumns<C extends Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never;
};

/** The row type of a collection: `export interface NoteRow extends RowOf<typeof notes> {}`. */
export type RowOf<C extends { readonly row?: object }> = NonNullable<C["row"]>;

/** Limits an index to the rows whose `column` is one of `in` or is not null. */
export type Condition =
  | { readonly column: string; readonly in: readonly string[] }
  | { readonly column: string; readonly present: true };

/** An index over `columns`. `K` is the tuple of their types. */
export interface Index<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> {
  readonly collection: Collection<R>;
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly where: Condition | undefined;
  readonly since: number;
  readonly scoping: Scoping;
  /** Never set. Carries the type of the key. */
  readonly key?: K;
}

/**
 * How an index separates the rows of one account and mode from all others.
 * - `key`: its columns begin with `account_id` and `mode`.
 * - `row`: its first column is an id, which is unique across scopes, so the index omits `account_id` and
 *   `mode`. A scoped read must check the scope of the rows.
 * - `none`: it spans all scopes. Scoped reads cannot use it.
 */
export type Scoping = "key" | "row" | "none";

export interface UniqueIndex<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, K> {
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

export interface ScopedUniqueIndex<
  R extends Scope = Scope,
  K extends readonly KeyValue[] = readonly KeyValue[],
  F extends readonly KeyValue[] = readonly KeyValue[],
> extends ScopedIndex<R, K, F> {
  readonly unique: true;
}

/**
 * How a collection is written.
 * - `rows`: rows are inserted, updated and removed under a version guard. With a column of type
 *   `position` the collection is a log, whose rows get positions in commit order.
 * - `counter`: rows hold sums. Commands add to them without reading them, so concurrent commands do not
 *   conflict.
 */
export type CollectionKind = "rows" | "counter";

export interface Collection<R extends object = object> {
  readonly name: string;
  readonly kind: CollectionKind;
  /** Whether each row belongs to one account and mode. */
  readonly isScoped: boolean;
  readonly columns: Columns;
  readonly primary: UniqueIndex<R>;
  /** All indexes except the primary key. */
  readonly indexes: readonly Index<R>[];
  readonly wordIndexes: readonly WordIndex<R>[];
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
export type OwnColumns<R extends Scope> = Omit<R, keyof Scope>;

/**
 * Finds rows by the words in a nullable text column. The words consist of lower-case letters and digits,
 * are separated by single spaces and have at most 100 characters. Rows with null are not indexed.
 */
export interface WordIndex<R extends object = object> {
  readonly collection: Collection<R>;
  readonly name: string;
  readonly column: string;
  readonly since: number;
}

/** A stored row. `version` changes with each write and guards the next write. */
export type Seen<R extends object> = Readonly<R> & { readonly version: number };

/** All collections of one version of the code. */
export interface Schema {
  readonly version: number;
  readonly collections: readonly Collection[];
}

type KeyColumn<R> = { [K in keyof R & string]: R[K] extends KeyValue ? K : never }[keyof R &
  string];
type TextColumn<R> = { [K in keyof R & string]: R[K] extends string | null ? K : never }[keyof R &
  string];
/** Ids are looked up as plain strings, since a caller may send any string. */
type KeyOf<R, C extends readonly (keyof R)[]> = {
  readonly [I in keyof C]: R[C[I]] extends KeyValue
    ? NonNullable<R[C[I]]> extends `${string}_${string}`
      ? string
      : NonNullable<R[C[I]]>
    : never;
};

type OwnKeyColumn<R> = Exclude<KeyColumn<R>, keyof Scope>;
type Prefixed<K extends readonly KeyValue[]> = readonly [account_id: string, mode: Mode, ...K];

/** A collection under definition. Each method adds one index and returns its typed handle. */
export interface CollectionDefinition<R extends object> extends Collection<R>, Indexing<R> {
  words(
    name: string,
    column: TextColumn<R>,
    options?: Pick<IndexOptions<R>, "since">,
  ): WordIndex<R>;
}

interface Indexing<R extends object> {
  /** Sets the primary key. Call it once. */
  key<const C extends readonly KeyColumn<R>[]>(...columns: C): UniqueIndex<R, KeyOf<R, C>>;
  unique<const C extends readonly KeyColumn<R>[]>(
    name: string,
    columns: C,
    options?: IndexOptions<R>,
  ): UniqueIndex<R, KeyOf<R, C>>;
  index<const C extends readonly KeyColumn<R>[]>(
    name: string,
    columns: C,
    options?: IndexOptions<R>,
  ): Index<R, KeyOf<R, C>>;
}

/**
 * A scoped collection under definition. `key`, `unique` and `index` add `account_id` and `mode` before
 * the given columns.
 */
export interface ScopedDefinition<R extends Scope> extends ScopedCollection<R> {
  /** Sets the primary key. Call it once, here or in `byId`. */
  key<const C extends readonly OwnKeyColumn<R>[]>(
    ...columns: C
  ): ScopedUniqueIndex<R, KeyOf<R, C>, Prefixed<KeyOf<R, C>>>;
  unique<const C extends readonly OwnKeyColumn<R>[]>(
    name: string,
    columns: C,
    options?: IndexOptions<R>,
  ): ScopedUniqueIndex<R, KeyOf<R, C>, Prefixed<KeyOf<R, C>>>;
  index<const C extends readonly OwnKeyColumn<R>[]>(
    name: string,
    columns: C,
    options?: IndexOptions<R>,
  ): ScopedIndex<R, KeyOf<R, C>, Prefixed<KeyOf<R, C>>>;
  /**
   * Defines indexes whose first column is an id. Ids are unique across scopes, so these indexes omit
   * `account_id` and `mode` and are smaller.
   */
  readonly byId: {
    key<const C extends readonly OwnKeyColumn<R>[]>(
      ...columns: C
    ): ScopedUniqueIndex<R, KeyOf<R, C>, KeyOf<R, C>>;
    unique<const C extends readonly OwnKeyColumn<R>[]>(
      name: string,
      columns: C,
      options?: IndexOptions<R>,
    ): ScopedUniqueIndex<R, KeyOf<R, C>, KeyOf<R, C>>;
    index<const C extends readonly OwnKeyColumn<R>[]>(
      name: string,
      columns: C,
      options?: IndexOptions<R>,
    ): ScopedIndex<R, KeyOf<R, C>, KeyOf<R, C>>;
  };
  /** Defines indexes over all accounts and modes. Scoped transactions cannot read them. */
  readonly acrossScopes: Omit<Indexing<R>, "key">;
  words(
    name: string,
    column: TextColumn<R>,
    options?: Pick<IndexOptions<R>, "since">,
  ): WordIndex<R>;
}

export interface IndexOptions<R extends object> {
  readonly where?: Condition & { readonly column: keyof R & string };
  readonly since?: number;
}

export interface CollectionOptions {
  readonly kind?: CollectionKind;
  readonly since?: number;
}

/** Defines a collection whose rows belong to no single account and mode. */
export function collection<const C extends Columns>(
  name: string,
  columns: C,
  options: CollectionOptions = {},
): CollectionDefinition<RowOfColumns<C>> {
  const described = describe(name, columns, options, false);
  return Object.assign(described, indexMethods(described, "none")) as never;
}

type ScopedRow<C extends Columns> = Scope & RowOfColumns<C>;

/**
 * Defines a collection in which each row belongs to one account and mode. Adds the columns `account_id`
 * and `mode`.
 */
export function scoped<const C extends Columns>(
  name: string,
  columns: C,
  options: CollectionOptions = {},
): ScopedDefinition<ScopedRow<C>> {
  const described = describe(name, { ...scopeColumns, ...columns }, options, true);
  return Object.assign(described, indexMethods(described, "key"), {
    byId: indexMethods(described, "row"),
    acrossScopes: indexMethods(described, "none"),
  }) as never;
}

interface Described extends Collection {
  readonly indexes: Index[];
  readonly wordIndexes: WordIndex[];
  primaryKey: UniqueIndex | undefined;
  words(name: string, column: string, options?: IndexOptions<object>): WordIndex;
}

function describe(
  name: string,
  columns: Columns,
  { kind = "rows", since = 1 }: CollectionOptions,
  isScoped: boolean,
): Described {
  return {
    name,
    kind,
    isScoped,
    columns,
    since,
    indexes: [],
    wordIndexes: [],
    primaryKey: undefined,
    get primary() {
      if (this.primaryKey === undefined) {
        throw new TypeError(`Collection ${name} has no primary key. Call key().`);
      }
      return this.primaryKey;
    },
    words(indexName, wordsColumn, options) {
      const index = {
        collection: this,
        name: indexName,
        column: wordsColumn,
        since: options?.since ?? since,
      };
      this.wordIndexes.push(index);
      return index;
    },
  };
}

/** Returns the methods that add indexes to a collection. */
function indexMethods(of: Described, scoping: Scoping) {
  const createIndex = (
    name: string,
    columns: readonly string[],
    unique: boolean,
    options: IndexOptions<object> | undefined,
  ): Index => ({
    collection: of,
    name,
    columns: scoping === "key" ? [...Object.keys(scopeColumns), ...columns] : columns,
    unique,
    where: options?.where,
    since: options?.since ?? of.since,
    scoping,
  });
  const add = (index: Index): Index => {
    of.indexes.push(index);
    return index;
  };
  return {
    key(...columns: string[]) {
      const index = { ...createIndex("primary", columns, true, undefined), unique: true } as const;
      Object.assign(of, { primaryKey: index });
      return index;
    },
    unique: (name: string, columns: readonly string[], options?: IndexOptions<object>) =>
      add(createIndex(name, columns, true, options)),
    index: (name: string, columns: readonly string[], options?: IndexOptions<object>) =>
      add(createIndex(name, columns, false, options)),
  };
}

const column = (type: ColumnType): Column<never> => ({ type, nullable: false, since: 1 });

/** Unicode text. Pass a narrower type if there is one: `text<MessageId>()`. */
export const text = <T extends string = string>(): Column<T> => column("text");
/** A safe integer. */
export const integer = <T extends number = number>(): Column<T> => column("integer");
/** A finite number. */
export const real = <T extends number = number>(): Column<T> => column("real");
export const boolean = <T extends boolean = boolean>(): Column<T> => column("boolean");
/** Milliseconds since the Unix epoch. */
export const time = (): Column<number> => column("time");
/** Any JSON value. The type `T` is not checked. */
export const json = <T>(): Column<T> => column("json");
/** The position of a row in commit order. Insert 0; the storage assigns the position. */
export const position = (): Column<number> => column("position");

/** A column that can be null. */
export const nullable = <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true });

const scopeColumns = { account_id: text<AccountId>(), mode: text<Mode>() };

/** A column added in schema version `since`. Older rows get `fill`. */
export const added = <T>(since: number, of: Column<T>, fill: KeyValue = null): Column<T> => ({
  ...of,
  since,
  fill,
});

export const columnsOf = ({
  columns,
}: Pick<Collection, "columns">): [name: string, column: Column][] => Object.entries(columns);

/** Returns the position column of a log, or undefined if the collection is not a log. */
export function positionColumnOf(collection: Pick<Collection, "columns">): string | undefined {
  return columnsOf(collection).find(([, { type }]) => type === "position")?.[0];
}

/** Returns the schema of `collections`. Its version is the highest `since` in them. */
export function schemaOf(collections: readonly Collection[]): Schema {
  const versions = collections.flatMap(({ since, columns, indexes, wordIndexes }) => [
    since,
    ...columnsOf({ columns }).map(([, each]) => each.since),
    ...indexes.map((each) => each.since),
    ...wordIndexes.map((each) => each.since),
  ]);
  return { version: Math.max(0, ...versions), collections };
}

/** Returns the primary key of a row. */
export function keyOf(collection: Collection, row: object): KeyValue[] {
  return collection.primary.columns.map((each) => Reflect.get(row, each) as KeyValue);
}

/** Returns the primary key of a row without `account_id` and `mode`. */
export function ownKeyOf(collection: ScopedCollection, row: object): KeyValue[] {
  const key = keyOf(collection, row);
  return collection.primary.scoping === "key" ? key.slice(2) : key;
}
