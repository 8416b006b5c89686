import { attempts, messageById } from "../../src/messages/rows.ts";
import type { Collection, Index, KeyValue, Seen } from "../../src/ports/collection.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";

/** The rows that are committed at this moment. No fault applies to this read. */
export function readRows<R extends object>(
  database: StoragePort,
  index: Index<R>,
  key: readonly KeyValue[],
): readonly Seen<R>[] {
  const found = database.begin().read([{ index, key, limit: 10_000 }]);
  if (found instanceof Promise) throw new TypeError("the simulated database must be synchronous");
  return (found[0] ?? []) as readonly Seen<object>[] as readonly Seen<R>[];
}

/** All committed rows of a collection. */
export function allRows<R extends object>(
  database: StoragePort,
  collection: Collection<R>,
): readonly Seen<R>[] {
  return readRows(database, collection.primary, []);
}

/** The rows of a collection that a commit inserted. */
export function insertedRows<R extends object>(
  writes: readonly Write[],
  collection: Collection<R>,
): R[] {
  return writes.flatMap((write) =>
    write.collection === collection && write.kind === "insert" ? [write.row as unknown as R] : [],
  );
}

/** The rows of a collection that a commit inserted or updated. */
export function writtenRows<R extends object>(
  writes: readonly Write[],
  collection: Collection<R>,
): R[] {
  return writes.flatMap((write) =>
    write.collection === collection && (write.kind === "insert" || write.kind === "update")
      ? [write.row as unknown as R]
      : [],
  );
}

/** The ids of the rows of a collection that a commit removed. */
export function removedIds(writes: readonly Write[], collection: Collection): string[] {
  return writes.flatMap((write) =>
    write.collection === collection && write.kind === "remove" ? [String(write.key.at(-1))] : [],
  );
}

/** The attempts that a commit began, with their messages. Those of erased messages are left out. */
export function handOvers(database: StoragePort, writes: readonly Write[]) {
  return insertedRows(writes, attempts).flatMap((attempt) => {
    const { account_id, mode, message_id } = attempt;
    const found = readRows(database, messageById, [account_id, mode, message_id]);
    return found.map((message) => ({ attempt, message }));
  });
}
