import { TidingsError, type Scope } from "../kernel/index.ts";
import type { ScopedUniqueIndex } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Returns the lowest free ordinal below `max`. The unique index over account, mode and ordinal
 * limits the number of rows. Of two transactions that take the same ordinal, one commits and the
 * other retries.
 * @throws TidingsError `conflict` if all ordinals are taken
 */
export async function freeOrdinal<R extends Scope & { readonly ordinal: number }>(
  tx: Tx,
  index: ScopedUniqueIndex<R>,
  max: number,
): Promise<number> {
  const taken = await tx.list(index, [], max);
  if (taken.length === max) {
    throw new TidingsError(
      "conflict",
      `An account can have at most ${max} ${index.collection.name}. Remove one first.`,
    );
  }
  const gap = taken.findIndex(({ ordinal }, i) => ordinal !== i);
  return gap === -1 ? taken.length : gap;
}
