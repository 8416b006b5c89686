import type { Collection, Index, KeyValue, Seen } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";

/** What is committed at this moment, past all faults. */
export function peek<R extends object>(
  ground: StoragePort,
  index: Index<R>,
  key: readonly KeyValue[],
): readonly Seen<R>[] {
  const found = ground.begin().read([{ index, key, limit: 10_000 }]);
  if (found instanceof Promise) throw new TypeError("the ground of a simulation answers at once");
  return (found[0] ?? []) as readonly Seen<object>[] as readonly Seen<R>[];
}

/** All rows of a collection. */
export function allOf<R extends object>(
  ground: StoragePort,
  collection: Collection<R>,
): readonly Seen<R>[] {
  return peek(ground, collection.primary, []);
}
