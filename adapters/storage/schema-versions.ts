/** Versions of the schema: whether a database has to be migrated, and what a migration adds. */
import { TidingsError } from "../../src/kernel/index.ts";
import {
  columnsOf,
  type Collection,
  type Column,
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
