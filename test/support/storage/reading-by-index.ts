import type { Index } from "../../../src/ports/collection.ts";
import type { Lookup, Row, StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/**
 * The storage as one that reads each index of a batch in a statement of its own, as PostgreSQL does.
 * Calls `after` when it has read an index.
 */
export function readingByIndex(
  storage: StoragePort,
  after: (index: Index) => Promise<void>,
): StoragePort {
  return over(storage, {
    capabilities: { ...storage.capabilities, synchronous: false },
    begin(how) {
      return over(storage.begin(how), {
        async read(lookups: readonly Lookup[]) {
          const found = new Map<Lookup, readonly Row[]>();
          for (const index of new Set(lookups.map((lookup) => lookup.index))) {
            const statement = storage.begin("shared");
            const own = lookups.filter((lookup) => lookup.index === index);
            const rows = await statement.read(own);
            await statement.abort();
            own.forEach((lookup, i) => found.set(lookup, rows[i] ?? []));
            await after(index);
          }
          return lookups.map((lookup) => found.get(lookup) ?? []);
        },
      });
    },
  });
}
