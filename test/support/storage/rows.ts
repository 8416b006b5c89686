/** Reads the stored rows of tables. */
import { schema } from "../../../src/modules.ts";
import type { Collection } from "../../../src/ports/collection.ts";
import type { Row, StoragePort } from "../../../src/ports/storage.ts";

/** All rows of a table, or those of one account. */
export async function rowsOf<R extends object>(
  storage: StoragePort,
  collection: Collection<R>,
  account_id?: string,
): Promise<readonly R[]> {
  const tables = await rowsOfEach(storage, [collection], account_id);
  return tables.of(collection);
}

/** The rows of tables at one moment. */
export interface Tables {
  of<R extends object>(collection: Collection<R>): readonly R[];
}

/**
 * All rows of some tables, or those of one account. One call reads them all, since a database takes
 * longer for many calls than for many rows.
 */
export async function rowsOfEach(
  { reader }: StoragePort,
  collections: readonly Collection[],
  account_id?: string,
): Promise<Tables> {
  const found = await reader.get(
    collections.map(({ primary, indexes }) => {
      const byAccount = [primary, ...indexes].find(
        ({ columns: [first], where }) => first === "account_id" && where === undefined,
      );
      const limit = 100_000;
      return account_id === undefined || byAccount === undefined
        ? { index: primary, key: [], limit }
        : { index: byAccount, key: [account_id], limit };
    }),
  );
  return {
    of<R extends object>(collection: Collection<R>) {
      const rows: readonly Row[] | undefined = found[collections.indexOf(collection)];
      if (rows === undefined) throw new Error(`the rows of ${collection.name} were not read`);
      const own =
        account_id === undefined ? rows : rows.filter((row) => row["account_id"] === account_id);
      return own as readonly object[] as readonly R[];
    },
  };
}

/** The tables whose rows contain any of the words, regardless of case. */
export async function tablesWith(
  storage: StoragePort,
  words: readonly string[],
  account_id?: string,
): Promise<string[]> {
  const { collections } = schema;
  const tables = await rowsOfEach(storage, collections, account_id);
  return collections.flatMap((collection) => {
    const text = JSON.stringify(tables.of(collection)).toLowerCase();
    return words
      .filter((word) => text.includes(word.toLowerCase()))
      .map((word) => `${collection.name}: ${word}`);
  });
}
