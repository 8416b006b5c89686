/** What the storages in databases do alike with a schema: compare its version with theirs, find what they lack, and its tables. */
import { TidingsError } from "../../src/kernel/errors.ts";
import {
  type Collection,
  type Column,
  columnsOf,
  type Index,
  type Schema,
  type WordIndex,
} from "../../src/ports/collection.ts";

/** What a database lacks of a collection. */
export interface Addition {
  readonly collection: Collection;
  /** The whole table is new, `columns` included. */
  readonly isNew: boolean;
  readonly columns: readonly (readonly [name: string, column: Column])[];
  readonly indexes: readonly Index[];
  readonly wordIndexes: readonly WordIndex[];
}

/** What takes a database from schema version `from` to the schema; 0 is an empty one. */
export function additionsSince(from: number, { collections }: Schema): Addition[] {
  return collections.map((collection) => ({
    collection,
    isNew: collection.since > from,
    columns: columnsOf(collection).filter(([, { since }]) => since > from),
    indexes: collection.indexes.filter(({ since }) => Math.max(since, collection.since) > from),
    wordIndexes: collection.wordIndexes.filter(
      ({ since }) => Math.max(since, collection.since) > from,
    ),
  }));
}

/**
 * Whether a database of version `stored` is to be migrated.
 * @throws TidingsError `storage_newer`, and `storage_outdated` where it must be but is not to be brought up
 */
export function mustMigrate(stored: number, schema: Schema, bringUp: boolean): boolean {
  refuseNewer(stored, schema);
  if (stored === schema.version) return false;
  if (bringUp) return true;
  throw new TidingsError(
    "storage_outdated",
    `The database has schema version ${stored}, this code needs ${schema.version}. Migrate it first.`,
  );
}

/** @throws TidingsError `storage_newer` */
export function refuseNewer(stored: number, { version }: Schema): void {
  if (stored <= version) return;
  throw new TidingsError(
    "storage_newer",
    `The storage has schema version ${stored}, this code knows ${version}. Run newer code.`,
  );
}

/** Finds what `make` makes of a collection by the collection's name. */
export function tablesOf<T>(
  { collections }: Schema,
  make: (collection: Collection) => T,
): (name: string) => T {
  const tables = new Map(collections.map((collection) => [collection.name, make(collection)]));
  return (name) => {
    const table = tables.get(name);
    if (table === undefined) throw new TypeError(`the schema has no collection ${name}`);
    return table;
  };
}
