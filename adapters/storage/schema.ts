/** What the database adapters derive from a schema: what a migration adds, and their tables. */
import { TidingsError } from "../../src/kernel/index.ts";
import {
  type Collection,
  type Column,
  columnsOf,
  type Index,
  type Schema,
  type WordIndex,
} from "../../src/ports/index.ts";

/** The parts of a collection that a database lacks. */
export interface Addition {
  readonly collection: Collection;
  /** The whole table is missing. `columns` does not matter then. */
  readonly isNew: boolean;
  readonly columns: readonly (readonly [name: string, column: Column])[];
  readonly indexes: readonly Index[];
  readonly wordIndexes: readonly WordIndex[];
}

/**
 * Returns what a migration from schema version `from` to the schema adds. Version 0 is an empty
 * database.
 */
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
 * Returns whether a database of version `stored` has to be migrated.
 * @throws TidingsError `storage_newer` when the database is newer than the code; `storage_outdated`
 *   when it is older and `canMigrate` is false
 */
export function mustMigrate(stored: number, schema: Schema, canMigrate: boolean): boolean {
  refuseNewer(stored, schema);
  if (stored === schema.version) return false;
  if (canMigrate) return true;
  throw new TidingsError(
    "storage_outdated",
    `The database has schema version ${stored}, but this version of tidings needs ` +
      `${schema.version}. Migrate it first: engine.migrate(), or npx tidings migrate.`,
  );
}

/** @throws TidingsError `storage_newer` when the database is newer than the code */
export function refuseNewer(stored: number, { version }: Schema): void {
  if (stored <= version) return;
  throw new TidingsError(
    "storage_newer",
    `The database has schema version ${stored}, but this version of tidings supports at most ` +
      `${version}. Update tidings.`,
  );
}

/**
 * Returns a collection's table. Throws a `TypeError` for a collection that is not in the schema.
 */
export type TableOf<Table> = (collection: Collection) => Table;

/** Makes the table of each collection and returns the function that finds it. */
export function makeTables<Table>(
  { collections }: Schema,
  make: (collection: Collection) => Table,
): TableOf<Table> {
  const tables = new Map(collections.map((collection) => [collection.name, make(collection)]));
  return ({ name }) => {
    const table = tables.get(name);
    if (table === undefined) throw new TypeError(`the schema has no collection ${name}`);
    return table;
  };
}
