import { type Scope, TidingsError } from "../kernel/index.ts";
import type { ScopedUniqueIndex } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * The first free one of `most` slots. An index over account, mode and slot bounds how many rows there are: of those that are made at once,
 * one has the slot and the others look again.
 * @throws TidingsError `conflict` when all are taken
 */
export async function freeSlot<R extends Scope & { readonly slot: number }>(
  tx: Tx,
  index: ScopedUniqueIndex<R>,
  most: number,
): Promise<number> {
  const taken = await tx.list(index, [], most);
  if (taken.length === most) {
    throw new TidingsError(
      "conflict",
      `An account can have at most ${most} ${index.collection.name}.`,
    );
  }
  const gap = taken.findIndex(({ slot }, i) => slot !== i);
  return gap === -1 ? taken.length : gap;
}
