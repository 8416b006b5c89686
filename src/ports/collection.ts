import type { AccountId, Mode, Scope } from "../kernel/index.ts";

/**
 * Collections: what the engine keeps, described once. A storage adapter derives its tables, columns and
 * indexes from these descriptions, so that a host can join `tidings_messages.status` like any column.
 * The types of the rows derive from them too.
 *
 * Everything carries the schema version that brought it (`since`). A migration from version k is what has a
 * higher `since`: collections, columns (with the value that old rows get) and indexes are only ever added.
 */

/** `time` is milliseconds since the Unix epoch; `position` is given by the storage in the order of commits. */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "time" | "json" | "position";

/** What a column of a key or an index may hold. `undefined` never; absent is `null`. */
export type KeyValue = string | number | boolean | null;

/** A column. `T` is the type of its values. */
export interface Column<T = unknown> {
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly since: number;
  /** What rows written before `since` get. Required of a column that comes later and is not nullable. */
  readonly fill?: KeyValue;
  /** Never set: carries the type of the values. */
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

/** The type of a collection's rows, to be named: `export interface NoteRow extends RowOf<typeof notes> {}`. */
export type RowOf<C extends { readonly row?: object }> = NonNullable<C["row"]>;

/** Limits an index to the rows whose `column` is one of `in`, or is not null. */
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
  /** Never set: carries the type of the key. */
  readonly key?: K;
}

/**
 * How an index keeps the rows of one account and mode apart from all others.
 * - `key`: its columns begin with `account_id` and `mode`.
 * - `row`: its first column is an id, which no two scopes share, so the two columns are left out of it. Whoever reads it in a scope
 *   checks the rows.
 * - `none`: it spans all scopes, and is read outside of them alone.
 */
export type Scoping = "key" | "row" | "none";

export interface UniqueIndex<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, K> {
  readonly unique: true;
}

/** An index that can be read within a scope. `K` is its key there, `F` its whole key: with `account_id` and `mode` if they are in it. */
export interface ScopedIndex<
  R extends Scope = Scope,
  K extends readonly KeyValue[] = readonly KeyValue[],
  F extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, F> {
  readonly collection: ScopedCollection<R>;
  readonly scoping: "key" | "row";
  /** Never set: carries the type of the key within a scope. */
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
 * How a collection is written. `rows`: inserted, updated and removed under a version guard; with a column of type
 * `position` it is a log, whose rows get their positions in the order of commits. `counter`: rows of sums that are added
 * to and never read to be written, so that concurrent commands don't contend.
 */
export type CollectionKind = "rows" | "counter";

export interface Collection<R extends object = object> {
  readonly name: string;
  readonly kind: CollectionKind;
  /** Whether each row belongs to one account and mode. */
  readonly isScoped: boolean;
  readonly columns: Columns;
  readonly primary: UniqueIndex<R>;
  /** All indexes but the primary. */
  readonly indexes: readonly Index<R>[];
  readonly wordIndexes: readonly WordIndex<R>[];
  readonly since: number;
  /** Never set: carries the type of the rows. */
  readonly row?: R;
}

/** A collection of which each row belongs to one account and mode. */
export interface ScopedCollection<R extends Scope = Scope> extends Collection<R> {
  readonly isScoped: true;
  readonly primary: ScopedUniqueIndex<R>;
}

/** What a new row is made of within a scope, which gives it its account and mode. */
export type OwnColumns<R extends Scope> = Omit<R, keyof Scope>;

/**
 * Finds rows by the words in a nullable text column: words of lower-case letters and digits, parted by single spaces, none longer than 100
 * characters. A row whose column is null is not in it, and costs it nothing.
 */
export interface WordIndex<R extends object = object> {
  readonly collection: Collection<R>;
  readonly name: string;
  readonly column: string;
  readonly since: number;
}

/** A row as the storage holds it; `version` changes with each write and guards the next one. */
export type Seen<R extends object> = Readonly<R> & { readonly version: number };

/** Everything that a storage holds for one version of the code. */
export interface Schema {
  readonly version: number;
  readonly collections: readonly Collection[];
}

type KeyColumn<R> = { [K in keyof R & string]: R[K] extends KeyValue ? K : never }[keyof R &
  string];
type TextColumn<R> = { [K in keyof R & string]: R[K] extends string | null ? K : never }[keyof R &
  string];
/** Ids are looked up as plain strings: a caller's may be any, and one that is no id is not found. */
type KeyOf<R, C extends readonly (keyof R)[]> = {
  readonly [I in keyof C]: R[C[I]] extends KeyValue
    ? NonNullable<R[C[I]]> extends `${string}_${string}`
      ? string
      : NonNullable<R[C[I]]>
    : never;
};

type OwnKeyColumn<R> = Exclude<KeyColumn<R>, keyof Scope>;
type Prefixed<K extends readonly KeyValue[]> = readonly [account_id: string, mode: Mode, ...K];

/** A collection while it is being described: each method adds one index and answers its typed handle. */
export interface CollectionDefinition<R extends object> extends Collection<R>, Indexing<R> {
  words(
    name: string,
    column: TextColumn<R>,
    options?: Pick<IndexOptions<R>, "since">,
  ): WordIndex<R>;
}

interface Indexing<R extends object> {
  /** The primary key; called once. */
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
 * A scoped collection while it is being described. `key`, `unique` and `index` put `account_id` and `mode` in front of the columns that
 * they are given.
 */
export interface ScopedDefinition<R extends Scope> extends ScopedCollection<R> {
  /** The primary key; called once, here or in `byId`. */
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
  /** Indexes whose first column is an id. They are shorter: no two scopes share an id, so account and mode need not be in front of it. */
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
  /** Indexes over the rows of all accounts and modes. No scoped transaction can read them. */
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

/** Describes a collection of the engine itself, or of all accounts. The types of its rows are those of its columns. */
export function collection<const C extends Columns>(
  name: string,
  columns: C,
  options: CollectionOptions = {},
): CollectionDefinition<RowOfColumns<C>> {
  const described = describe(name, columns, options, false);
  return Object.assign(described, indexing(described, "none")) as never;
}

type ScopedRow<C extends Columns> = Scope & RowOfColumns<C>;

/** Describes a collection of which each row belongs to one account and mode. Adds the columns `account_id` and `mode`. */
export function scoped<const C extends Columns>(
  name: string,
  columns: C,
  options: CollectionOptions = {},
): ScopedDefinition<ScopedRow<C>> {
  const described = describe(name, { ...scopeColumns, ...columns }, options, true);
  return Object.assign(described, indexing(described, "key"), {
    byId: indexing(described, "row"),
    acrossScopes: indexing(described, "none"),
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
      if (this.primaryKey === undefined) throw new TypeError(`collection ${name} has no key`);
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

/** What adds indexes to a collection. */
function indexing(of: Described, scoping: Scoping) {
  const made = (
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
      const index = { ...made("primary", columns, true, undefined), unique: true } as const;
      Object.assign(of, { primaryKey: index });
      return index;
    },
    unique: (name: string, columns: readonly string[], options?: IndexOptions<object>) =>
      add(made(name, columns, true, options)),
    index: (name: string, columns: readonly string[], options?: IndexOptions<object>) =>
      add(made(name, columns, false, options)),
  };
}

const column = (type: ColumnType): Column<never> => ({ type, nullable: false, since: 1 });

/** Text in Unicode. Name a narrower type where there is one: `text<MessageId>()`. */
export const text = <T extends string = string>(): Column<T> => column("text");
/** A safe integer. */
export const integer = <T extends number = number>(): Column<T> => column("integer");
/** A finite number. */
export const real = <T extends number = number>(): Column<T> => column("real");
export const boolean = <T extends boolean = boolean>(): Column<T> => column("boolean");
/** Milliseconds since the Unix epoch. */
export const time = (): Column<number> => column("time");
/** Anything that JSON can express; the type is taken on trust. */
export const json = <T>(): Column<T> => column("json");
/** A row's place in the order of commits. The storage gives it; it is inserted as 0. */
export const position = (): Column<number> => column("position");

/** A column that can be null. */
export const nullable = <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true });

const scopeColumns = { account_id: text<AccountId>(), mode: text<Mode>() };

/** A column that came with schema version `since`; rows from before get `fill`. */
export const added = <T>(since: number, of: Column<T>, fill: KeyValue = null): Column<T> => ({
  ...of,
  since,
  fill,
});

export const columnsOf = ({
  columns,
}: Pick<Collection, "columns">): [name: string, column: Column][] => Object.entries(columns);

/** The column that a log's rows get their positions in; undefined of what is no log. */
export function positionColumnOf(collection: Pick<Collection, "columns">): string | undefined {
  return columnsOf(collection).find(([, { type }]) => type === "position")?.[0];
}

/** The schema of `collections`: its version is the highest `since` in them. */
export function schemaOf(collections: readonly Collection[]): Schema {
  const versions = collections.flatMap(({ since, columns, indexes, wordIndexes }) => [
    since,
    ...columnsOf({ columns }).map(([, each]) => each.since),
    ...indexes.map((each) => each.since),
    ...wordIndexes.map((each) => each.since),
  ]);
  return { version: Math.max(0, ...versions), collections };
}

/** The primary key of a row. */
export function keyOf(collection: Collection, row: object): KeyValue[] {
  return collection.primary.columns.map((each) => Reflect.get(row, each) as KeyValue);
}

/** The primary key of a row within its scope. */
export function ownKeyOf(collection: ScopedCollection, row: object): KeyValue[] {
  const key = keyOf(collection, row);
  return collection.primary.scoping === "key" ? key.slice(2) : key;
}
