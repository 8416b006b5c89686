import type { Scope } from "../../kernel/index.ts";
import type {
  Index,
  KeyValue,
  Range,
  Reader,
  Row,
  ScopedIndex,
  ScopedUniqueIndex,
  Search,
  Seen,
  UniqueIndex,
  WordIndex,
} from "../../ports/index.ts";
import { fullKey, rowsInScope } from "../transactions/scoped-tx.ts";
import type { UnscopedTx } from "../transactions/transaction.ts";

/** A range of an index, with the row type of its collection. */
export type RangeOf<R extends object> = Omit<Range, "index"> & { readonly index: Index<R> };

/** A range of an index within a scope: `prefix` leaves out the account and mode. */
export type ScopedRangeOf<R extends Scope> = Omit<Range, "index"> & {
  readonly index: ScopedIndex<R>;
};

/** A search, with the row type of its collection. */
type SearchOf<R extends object> = Omit<Search, "index"> & { readonly index: WordIndex<R> };

/**
 * Reads committed rows of one account and mode, outside transactions. Keys leave out `account_id`
 * and `mode`.
 */
export interface Reads {
  readonly scope: Scope;
  get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
  ): Promise<Seen<R> | undefined>;
  /** Returns the rows with these keys, in one round trip. Leaves out keys without a row. */
  getAll<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    keys: readonly K[],
  ): Promise<readonly Seen<R>[]>;
  /** Returns up to `limit` rows for each key, in index order, in one round trip. */
  lists<R extends Scope>(
    index: ScopedIndex<R>,
    keys: readonly (readonly KeyValue[])[],
    limit: number,
  ): Promise<readonly (readonly Seen<R>[])[]>;
  range<R extends Scope>(range: ScopedRangeOf<R>): Promise<readonly Seen<R>[]>;
  /** Returns the rows of each search, in one round trip. */
  search<R extends Scope>(
    searches: readonly SearchOf<R>[],
  ): Promise<readonly (readonly Seen<R>[])[]>;
}

/**
 * Reads committed rows of all scopes, by their full keys. `test/architecture/unscoped.test.ts`
 * lists its users.
 */
export interface UnscopedReads {
  in(scope: Scope): Reads;
  get<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    key: K,
  ): Promise<Seen<R> | undefined>;
  getAll<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    keys: readonly K[],
  ): Promise<readonly Seen<R>[]>;
  lists<R extends object>(
    index: Index<R>,
    keys: readonly (readonly KeyValue[])[],
    limit: number,
  ): Promise<readonly (readonly Seen<R>[])[]>;
  range<R extends object>(range: RangeOf<R>): Promise<readonly Seen<R>[]>;
}

/**
 * Adds row types to a reader. The types hold because the adapter was opened with the same
 * collections.
 */
export function unscopedReads(reader: Reader): UnscopedReads {
  const all: UnscopedReads = {
    in: (scope) => new ScopedReads(all, reader, scope),
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
  };
  return all;
}

/**
 * Returns the unscoped reads behind scoped ones. For modules that keep the rows of all scopes in
 * one collection, like `unscoped`.
 */
export function unscopedReadsOf(reads: Reads): UnscopedReads {
  return ScopedReads.allOf(reads);
}

class ScopedReads implements Reads {
  static allOf(reads: Reads): UnscopedReads {
    if (reads instanceof ScopedReads) return reads.#all;
    throw new TypeError("expected reads of this engine");
  }

  readonly scope: Scope;
  readonly #all: UnscopedReads;
  readonly #reader: Reader;

  constructor(all: UnscopedReads, reader: Reader, { account_id, mode }: Scope) {
    this.scope = { account_id, mode };
    this.#all = all;
    this.#reader = reader;
  }

  async get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
  ): Promise<Seen<R> | undefined> {
    const [row] = await this.getAll(index, [key]);
    return row;
  }

  async getAll<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    keys: readonly K[],
  ): Promise<readonly Seen<R>[]> {
    return (await this.lists(index, keys, 1)).flat();
  }

  async lists<R extends Scope>(
    index: ScopedIndex<R>,
    keys: readonly (readonly KeyValue[])[],
    limit: number,
  ): Promise<readonly (readonly Seen<R>[])[]> {
    const lookups = keys.map((key) => ({ index, key: fullKey(this.scope, index, key), limit }));
    return (await this.#reader.get(lookups)).map((rows) => this.#ownRows(rows));
  }

  async range<R extends Scope>(range: ScopedRangeOf<R>): Promise<readonly Seen<R>[]> {
    const prefix = fullKey(this.scope, range.index, range.prefix);
    return this.#ownRows(await this.#reader.range({ ...range, prefix }));
  }

  async search<R extends Scope>(
    searches: readonly SearchOf<R>[],
  ): Promise<readonly (readonly Seen<R>[])[]> {
    return (await this.#reader.search(searches)).map((rows) => this.#ownRows(rows));
  }

  #ownRows<R extends Scope>(rows: readonly Row[]): readonly Seen<R>[] {
    return rowsInScope(this.scope, rows as readonly object[] as readonly Seen<R>[]);
  }
}

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
