/**
 * The storage port. The engine implements the logic of transactions (`src/store`): it runs their
 * bodies, buffers and merges writes, and reruns bodies after conflicts. An adapter reads keys and
 * ranges, and commits merged writes.
 *
 * Glossary
 * - *group*: up to 128 concurrent commands that share one commit.
 * - *version*: each write increments the version of its row and names the version that it read. If
 *   a version does not match, the group writes nothing and is run again. A new row under the key of
 *   a removed row begins with a version that the removed row never had.
 */
import type { Collection, Index, KeyValue, Schema, WordIndex } from "./collection.ts";

/** A row as the adapter passes it: every column by name, and `version`, which counters lack. */
export type Row = { readonly [column: string]: unknown };

/** Finds up to `limit` rows whose leading index columns equal `key`, in index order. */
export interface Lookup {
  readonly index: Index;
  readonly key: readonly KeyValue[];
  readonly limit: number;
  /**
   * Locks the returned rows for writing until the group ends. Skips rows that another group or a
   * transaction of the host application is writing. A storage with a single writer may ignore it.
   */
  readonly claim?: boolean;
}

/**
 * A range of an index, for lists. The leading columns equal `prefix`. The other columns of the
 * index, followed by the primary key columns that it lacks, order the rows. `after` and `until` are
 * tuples of any length that bound those columns: rows strictly beyond `after` and strictly before
 * `until`, in the direction of `order`. `where` filters the rows; a list of values means any of
 * them. The adapter reads on until it finds `limit` rows, so a caller that does not know how many
 * rows pass must bound the range. `skip` omits the first rows of the result.
 */
export interface Range {
  readonly index: Index;
  readonly prefix: readonly KeyValue[];
  readonly order: "ascending" | "descending";
  readonly after?: readonly KeyValue[];
  readonly until?: readonly KeyValue[];
  readonly where?: { readonly [column: string]: KeyValue | readonly KeyValue[] };
  readonly skip?: number;
  readonly limit: number;
}

/**
 * Finds up to `limit` rows that contain all of the words, in any order. A `prefix` matches every
 * word that begins with it. The cost may grow with the number of rows that contain the rarest word,
 * but not with the total number of rows.
 */
export interface Search {
  readonly index: WordIndex;
  /** At least one. */
  readonly words: readonly SearchedWord[];
  readonly limit: number;
}

/** A word of lower-case letters and digits. */
export interface SearchedWord {
  readonly word: string;
  readonly prefix: boolean;
}

/**
 * One merged write. A group has at most one write per row.
 * - `insert`: conflicts if the primary key or a unique index value is taken.
 * - `update`, `remove`: conflict if the row is gone or its version is not `version`. `row` is the
 *   complete new row, including its new `version`. `changed` names the columns that differ.
 * - `hold`: writes nothing. Conflicts like an update.
 * - `add`: adds the non-key columns of `row` to the counter with its key. A counter begins at zero.
 */
export type Write =
  | { readonly kind: "insert"; readonly collection: Collection; readonly row: Row }
  | {
      readonly kind: "update";
      readonly collection: Collection;
      readonly key: readonly KeyValue[];
      readonly version: number;
      readonly row: Row;
      readonly changed: readonly string[];
    }
  | {
      readonly kind: "remove" | "hold";
      readonly collection: Collection;
      readonly key: readonly KeyValue[];
      readonly version: number;
    }
  | { readonly kind: "add"; readonly collection: Collection; readonly row: Row };

export interface StorageCapabilities {
  /** Whether committed rows survive the process. */
  readonly durable: boolean;
  /** Whether several processes can use the storage at once. `watch` notifies them of commits. */
  readonly shared: boolean;
  /** Whether `host(handle)` can join a transaction of the host application. */
  readonly hostTransactions: boolean;
  /** How many calls of `transaction` the engine may have open at once. 0 means none. */
  readonly transactions: number;
  /**
   * Whether a group's reads return results instead of promises. If true, the commands of a group
   * run one after the other. If false, they run concurrently, so that their reads share round
   * trips, and a command runs again if an earlier one overwrote its reads.
   */
  readonly synchronous: boolean;
}

export type Access = "shared" | "exclusive";

/** A request under `key`. At most `limit` requests are admitted in any `window` milliseconds. */
export interface AdmissionRequest {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
}

/** The result of an admission request. */
export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** How many more requests would be admitted now. */
  readonly remaining: number;
  /** Milliseconds until the whole quota is free. */
  readonly reset_ms: number;
  /** Milliseconds until one more request is admitted. 0 if one would be admitted now. */
  readonly retry_after_ms: number;
}

/**
 * `Tx` is the handle that `transaction` passes on. It is undefined if there is no `transaction`.
 */
export interface StoragePort<Tx extends object | undefined = object | undefined> {
  readonly capabilities: StorageCapabilities;

  /**
   * Connects. Updates the schema if the storage is empty or older than the code, unless the adapter
   * is configured to leave that to `migrate`. Rejects a storage newer than the code. Idempotent.
   * @throws TidingsError `storage_unavailable`, `storage_newer`, `storage_outdated`
   */
  open(schema: Schema): Promise<void>;
  /** Updates the schema atomically. Safe when several processes start at once. */
  migrate(schema: Schema): Promise<void>;
  /** Returns the statements that migrate from schema version `from` (0: empty) to the schema. */
  migrationSql(schema: Schema, from?: number): string;

  /**
   * Begins a group. Groups commit one at a time, in the order in which they began. While one
   * commits, the bodies of the next may already read. A group is `shared` by default and may
   * conflict with groups of other processes. After a conflict the engine begins an `exclusive`
   * group: commits of other processes wait from its first read to its end.
   */
  begin(how?: Access): Group;
  /** Joins an open transaction of the host application, which must commit it. */
  host?(handle: unknown): Group;
  /**
   * Runs `work` in a new transaction. `host` accepts the handle, and the host application can run
   * its own statements on it. Commits when `work` resolves. Otherwise rolls back and rejects with
   * its error.
   */
  transaction?<T>(work: (handle: NonNullable<Tx>) => Promise<T>): Promise<T>;
  /**
   * Admits requests by sliding logs that all processes share, using the storage's clock. Returns
   * one result per request, in order. Without this method each process counts its own requests.
   */
  admit?(requests: readonly AdmissionRequest[]): Promise<readonly Admission[]>;
  /** Reads committed rows, on a separate connection. */
  readonly reader: Reader;
  /**
   * Calls `listener` when another process may have committed. Returns a function that unsubscribes.
   */
  watch?(listener: () => void): () => void;
  /**
   * Yields to the event loop. Resolves after pending timers, sockets and other work had a chance to
   * run.
   */
  yieldToEventLoop(): Promise<void>;
  /**
   * Closes after open groups end. Idempotent. If several engines share it, the last one closes it.
   */
  close(): Promise<void>;
}

export interface Reader {
  /** Returns one list of rows per lookup, in order. */
  get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]>;
  range(range: Range): Promise<readonly Row[]>;
  /** Returns one list of rows per search, in order. */
  search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]>;
}

export interface Group {
  /** Reads for the bodies of this group. Synchronous if `capabilities.synchronous` is true. */
  read(
    lookups: readonly Lookup[],
  ): readonly (readonly Row[])[] | Promise<readonly (readonly Row[])[]>;
  /**
   * Commits all writes or none, and ends the group. Resolves when the writes are as durable as the
   * storage can make them. Assigns the positions of log rows: once a reader can see position q, no
   * position below q appears later.
   * @throws StorageConflict a guard failed: run the bodies again
   * @throws StorageRefusal the database rejects one of the writes permanently: split the group to
   * find it
   * @throws TidingsError `storage_unavailable`: nothing was written, or the outcome is unknown
   */
  commit(writes: readonly Write[]): void | Promise<void>;
  /** Ends the group without writing. Never throws. */
  abort(): void | Promise<void>;
}

/** A version guard or a unique index conflicted. Nothing was written. */
export class StorageConflict extends Error {
  override readonly name = "StorageConflict";
}

/** The database permanently rejected a row (a constraint, a size). Nothing was written. */
export class StorageRefusal extends Error {
  override readonly name = "StorageRefusal";
}
