import type { KeyValue, Seen, UniqueIndex } from "../../ports/index.ts";
import type { UnscopedTx } from "../transactions/transaction.ts";

/**
 * Reads rows again that were found outside of the transaction, by their keys in a unique index.
 * Leaves out the rows that are gone. The others may have changed.
 */
export async function reread<R extends object>(
  tx: UnscopedTx,
  index: UniqueIndex<R>,
  found: readonly R[],
): Promise<readonly Seen<R>[]> {
  const keys = found.map((row) => index.columns.map((name) => Reflect.get(row, name) as KeyValue));
  const rows = await Promise.all(keys.map((key) => tx.get(index, key)));
  return rows.filter((row) => row !== undefined);
}
