/**
 * Collections: what the engine keeps, described once. A storage adapter derives its tables, columns and
 * indexes from these descriptions, so that a host can join `tidings_messages.status` like any column.
 *
 * Everything carries the schema version that brought it (`since`). A migration from version k is what has a
 * higher `since`: collections, columns (with the value that old rows get) and indexes are only ever added.
 */

/** `time` is milliseconds since the Unix epoch; `position` is given by the storage in the order of commits. */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "time" | "json" | "position";

/** What a column of a key or an index may hold. `undefined` never; absent is `null`. */
export type KeyValue = string | number | boolean | null;

export interface Column {
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly since: number;
  /** What rows written before `since` get. Required of a column that comes later and is not nullable. */
  readonly fill?: KeyValue;
}

export type Columns<R extends object> = { readonly [K in keyof R]-?: Column };

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
  /** Never set: carries the type of the key. */
  readonly key?: K;
}

export interface UniqueIndex<
  R extends object = object,
  K extends readonly KeyValue[] = readonly KeyValue[],
> extends Index<R, K> {
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
  readonly columns: Columns<R>;
  readonly primary: UniqueIndex<R>;
  /** All indexes but the primary. */
  readonly indexes: readonly Index<R>[];
  readonly wordIndexes: readonly WordIndex<R>[];
  readonly since: number;
}

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

/** A collection while it is being described: each method adds one index and answers its typed handle. */
export interface CollectionDefinition<R extends object> extends Collection<R> {
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

export function collection<R extends object>(
  name: string,
  columns: Columns<R>,
  { kind = "rows", since = 1 }: CollectionOptions = {},
): CollectionDefinition<R> {
  const indexes: Index<R>[] = [];
  const wordIndexes: WordIndex<R>[] = [];
  let primary: UniqueIndex<R> | undefined;

  const add = <I extends Index<R>>(index: I): I => {
    indexes.push(index);
    return index;
  };
  const definition: CollectionDefinition<R> = {
    name,
    kind,
    columns,
    since,
    indexes,
    wordIndexes,
    get primary() {
      if (primary === undefined) throw new TypeError(`collection ${name} has no key`);
      return primary;
    },
    key(...keyColumns) {
      const index = {
        collection: definition,
        name: "primary",
        columns: keyColumns,
        unique: true as const,
        where: undefined,
        since,
      };
      primary = index;
      return index;
    },
    unique: (indexName, indexColumns, options) =>
      add({
        collection: definition,
        name: indexName,
        columns: indexColumns,
        unique: true as const,
        where: options?.where,
        since: options?.since ?? since,
      }),
    index: (indexName, indexColumns, options) =>
      add({
        collection: definition,
        name: indexName,
        columns: indexColumns,
        unique: false,
        where: options?.where,
        since: options?.since ?? since,
      }),
    words(indexName, wordsColumn, options) {
      const index = {
        collection: definition,
        name: indexName,
        column: wordsColumn,
        since: options?.since ?? since,
      };
      wordIndexes.push(index);
      return index;
    },
  };
  return definition;
}

const column = (type: ColumnType, nullable: boolean): Column => ({ type, nullable, since: 1 });

export const text: Column = column("text", false);
export const integer: Column = column("integer", false);
export const real: Column = column("real", false);
export const boolean: Column = column("boolean", false);
export const time: Column = column("time", false);
export const json: Column = column("json", false);
export const position: Column = column("position", false);

export const nullable = (of: Column): Column => ({ ...of, nullable: true });

/** A column that came with schema version `since`; rows from before get `fill`. */
export const added = (since: number, of: Column, fill: KeyValue = null): Column => ({
  ...of,
  since,
  fill,
});

export const columnsOf = ({
  columns,
}: Pick<Collection, "columns">): [name: string, column: Column][] =>
  Object.entries(columns as Record<string, Column>);

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
