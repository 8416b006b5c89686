/**
 * Defines collections. Each method of a definition adds one index and returns its typed handle.
 */
import type { AccountId, Mode, Scope } from "../kernel/index.ts";
import type {
  Collection,
  CollectionKind,
  Column,
  Columns,
  ColumnType,
  Condition,
  Index,
  KeyValue,
  RowOfColumns,
  ScopedCollection,
  ScopedIndex,
  ScopedUniqueIndex,
  Scoping,
  UniqueIndex,
  WordIndex,
} from "./collection.ts";

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
  /** Adds an index of the words in a column. */
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
 * A scoped collection under definition. `key`, `unique` and `index` add `account_id` and `mode`
 * before the given columns.
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
   * Defines indexes whose first column is an id. Ids are unique across scopes, so these indexes
   * omit `account_id` and `mode` and are smaller.
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
  /** Adds an index of the words in a column. */
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
  const defined = newCollection(name, columns, options, false);
  return Object.assign(defined, indexMethods(defined, "none")) as never;
}

type ScopedRow<C extends Columns> = Scope & RowOfColumns<C>;

/**
 * Defines a collection in which each row belongs to one account and mode. Adds the columns
 * `account_id` and `mode`.
 */
export function scoped<const C extends Columns>(
  name: string,
  columns: C,
  options: CollectionOptions = {},
): ScopedDefinition<ScopedRow<C>> {
  const defined = newCollection(name, { ...scopeColumns, ...columns }, options, true);
  return Object.assign(defined, indexMethods(defined, "key"), {
    byId: indexMethods(defined, "row"),
    acrossScopes: indexMethods(defined, "none"),
  }) as never;
}

/** A collection to which indexes can be added. */
interface DefinedCollection extends Collection {
  readonly indexes: Index[];
  readonly wordIndexes: WordIndex[];
  primaryKey: UniqueIndex | undefined;
  words(name: string, column: string, options?: IndexOptions<object>): WordIndex;
}

/** Returns a collection without indexes. `indexMethods` add them. */
function newCollection(
  name: string,
  columns: Columns,
  { kind = "rows", since = 1 }: CollectionOptions,
  isScoped: boolean,
): DefinedCollection {
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
function indexMethods(of: DefinedCollection, scoping: Scoping) {
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
      of.primaryKey = index;
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
