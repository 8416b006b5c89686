import type { Collection, Schema } from "../../src/ports/index.ts";

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
