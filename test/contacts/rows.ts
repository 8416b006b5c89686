/** Reads the stored rows of tables. */
import type { Collection } from "../../src/ports/collection.ts";
import type { Row, StoragePort } from "../../src/ports/storage.ts";
import { schema } from "../../src/modules.ts";

/** All rows of a table, or those of one account. */
export async function rowsOf<R extends object>(
  { reader }: StoragePort,
  { primary: index }: Collection<R>,
  account_id?: string,
): Promise<readonly R[]> {
  const isByAccount = account_id !== undefined && index.columns[0] === "account_id";
  const prefix = isByAccount ? [account_id] : [];
  const rows: readonly Row[] = await reader.range({
    index,
    prefix,
    order: "ascending",
    limit: 100_000,
  });
  const own =
    account_id === undefined ? rows : rows.filter((row) => row["account_id"] === account_id);
  return own as readonly object[] as readonly R[];
}

/** The tables whose rows contain any of the words, regardless of case. */
export async function tablesWith(
  storage: StoragePort,
  words: readonly string[],
  account_id?: string,
): Promise<string[]> {
  const found: string[] = [];
  for (const collection of schema.collections) {
    const text = JSON.stringify(await rowsOf(storage, collection, account_id)).toLowerCase();
    for (const word of words) {
      if (text.includes(word.toLowerCase())) found.push(`${collection.name}: ${word}`);
    }
  }
  return found;
}
