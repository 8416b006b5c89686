import type { Index, KeyValue, Seen, UniqueIndex, WordIndex } from "../ports/collection.ts";
import type { Range, Reader, Search } from "../ports/storage.ts";

/** A stretch of an index of a known collection. */
export type RangeOf<R extends object> = Omit<Range, "index"> & { readonly index: Index<R> };

/** A search of a known collection. */
export type SearchOf<R extends object> = Omit<Search, "index"> & { readonly index: WordIndex<R> };

/** Reads outside transactions: committed rows only. */
export interface Reads {
  get<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    key: K,
  ): Promise<Seen<R> | undefined>;
  /** The rows under each key, in one round trip; those that are not there are left out. */
  getAll<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    keys: readonly K[],
  ): Promise<readonly Seen<R>[]>;
  /** For each key up to `limit` rows under it, in index order, in one round trip. */
  lists<R extends object>(
    index: Index<R>,
    keys: readonly (readonly KeyValue[])[],
    limit: number,
  ): Promise<readonly (readonly Seen<R>[])[]>;
  range<R extends object>(range: RangeOf<R>): Promise<readonly Seen<R>[]>;
  /** One list of rows for each search, in one round trip. */
  search<R extends object>(
    searches: readonly SearchOf<R>[],
  ): Promise<readonly (readonly Seen<R>[])[]>;
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
    lists: (index, keys, limit) =>
      reader.get(keys.map((key) => ({ index, key, limit }))) as Promise<never>,
    range: (range) => reader.range(range) as Promise<never>,
    search: (searches) => reader.search(searches) as Promise<never>,
  };
}
