import type { StoragePort, Write } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/** The storage, which calls `before` ahead of each commit: a commit that other commits overtake. */
export function beforeCommits(
  storage: StoragePort,
  before: (writes: readonly Write[]) => Promise<void>,
): StoragePort {
  return over(storage, {
    begin(how) {
      const group = storage.begin(how);
      return over(group, {
        async commit(writes) {
          await before(writes);
          return group.commit(writes);
        },
      });
    },
  });
}
