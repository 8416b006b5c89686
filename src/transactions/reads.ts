import type { Index, KeyValue, Seen, UniqueIndex } from "../ports/collection.ts";
import type { Range, Reader } from "../ports/storage.ts";

/** A stretch of an index of a known collection. */
export type RangeOf<R extends object> = Omit<Range, "index"> & { readonly index: Index<R> };

/** Reads outside transactions: committed rows only. */
export interface Reads {
  get<R extends object, K extends readonly KeyValue[]>(index: UniqueIndex<R, K>, key: K): Promise<Seen<R> | undefined>;
  /** The rows under each key, in one round trip; those that are not there are left out. */
  getAll<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    keys: readonly K[],
  ): Promise<readonly Seen<R>[]>;
  range<R extends object>(range: RangeOf<R>): Promise<readonly Seen<R>[]>;
}

/** Gives the rows of a reader the types of their collections: the adapter was handed the same descriptions. */
export function reads(reader: Reader): Reads {
  return {
    async get(index, key) {
      const [rows] = await reader.get([{ index, key, limit: 1 }]);
      return rows?.[0] as never;
    },
    async getAll(index, keys) {
      const found = await reader.get(keys.map((key) => ({ index, key, limit: 1 })));
      return found.flat() as never;
    },
    range: (range) => reader.range(range) as Promise<never>,
  };
}
