import type { Lookup, StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/** The storage, which calls `before` ahead of each read of a group, so that others can commit. */
export function beforeReads(
  storage: StoragePort,
  before: (lookups: readonly Lookup[]) => Promise<void>,
): StoragePort {
  return over(storage, {
    begin(how) {
      const group = storage.begin(how);
      return over(group, {
        async read(lookups) {
          await before(lookups);
          return group.read(lookups);
        },
      });
    },
  });
}
