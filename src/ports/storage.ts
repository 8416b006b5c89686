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
import type { TidingsError } from "../kernel/index.ts";
import type { Collection, Index, KeyValue, Schema, WordIndex } from "./collection.ts";
import type { EngineLocks } from "./engine-locks.ts";

/** A row as the adapter passes it: every column by name, and `version`, which counters lack. */
export type Row = { readonly [column: string]: unknown };

/** Finds the first `limit` rows, in the given order, whose leading index columns equal `key`. */
export interface Lookup {
  /** The index to read. */
  readonly index: Index;
  /** Values of the leading columns of the index. */
  readonly key: readonly KeyValue[];
  /** Maximum number of rows. */
  readonly limit: number;
  /**
   * The order of the rows: that of the index, or its reverse.
   * @default "ascending"
   */
  readonly order?: "ascending" | "descending";
  /**
   * Locks the returned rows for writing until the group ends. Skips rows that another group or a
   * transaction of the host application is writing. A synchronous storage may ignore it, since it
   * has a single writer.
   * Among the look-ups of one `Group.read`, those that lock are read first. The others then see
   * what was committed before the locks were taken.
   */
  readonly lock?: boolean;
}

/**
 * A range of an index, for lists. The leading columns equal `prefix`. The other columns of the
 * index, followed by the primary key columns that it lacks, order the rows. `after` and `until` are
 * tuples of any length that bound those columns. The adapter reads on until it finds `limit` rows,
 * so a caller that does not know how many rows pass `where` must bound the range.
 */
export interface Range {
  /** The index to read. */
  readonly index: Index;
  /** Values of the leading columns of the index. Empty for the whole index. */
  readonly prefix: readonly KeyValue[];
  /** The order of the rows. */
  readonly order: "ascending" | "descending";
  /** Returns only rows strictly beyond these values, in the direction of `order`. */
  readonly after?: readonly KeyValue[];
  /** Returns only rows strictly before these values, in the direction of `order`. */
  readonly until?: readonly KeyValue[];
  /** Returns only rows whose columns have these values. A list of values means any of them. */
  readonly where?: { readonly [column: string]: KeyValue | readonly KeyValue[] };
  /**
   * How many of the first matching rows to leave out.
   * @default 0
   */
  readonly skip?: number;
  /** Maximum number of rows. */
  readonly limit: number;
}

/**
 * Finds up to `limit` rows that contain all of the words, in any order. A `prefix` matches every
 * word that begins with it. The cost may grow with the number of rows that contain the rarest word,
 * but not with the total number of rows.
 */
export interface Search {
  /** The index to search. */
  readonly index: WordIndex;
  /** The words, at least one. */
  readonly words: readonly SearchedWord[];
  /** Maximum number of rows. */
  readonly limit: number;
}

/** A word of lower-case letters and digits. */
export interface SearchedWord {
  /** The word, or its beginning. */
  readonly word: string;
  /** Whether each word that begins with `word` matches. */
  readonly prefix: boolean;
}

/** One merged write. A group has at most one write per row. */
export type Write = Insert | Update | RemoveOrHold | Add;

/** Inserts a row. Conflicts if the primary key or the value of a unique index is taken. */
export interface Insert {
  /** `insert`: a new row. */
  readonly kind: "insert";
  /** The collection to write. */
  readonly collection: Collection;
  /** The complete row, including its `version`. */
  readonly row: Row;
}

/** Replaces a row. Conflicts if the row is gone or its version is not `version`. */
export interface Update {
  /** `update`: a changed row. */
  readonly kind: "update";
  /** The collection to write. */
  readonly collection: Collection;
  /** The primary key of the row. */
  readonly key: readonly KeyValue[];
  /** The version that was read. */
  readonly version: number;
  /** The complete new row, including its new `version`. */
  readonly row: Row;
  /** The names of the columns that differ. */
  readonly changed: readonly string[];
}

/**
 * Removes a row, or (`hold`) only guards one: nothing is written. Both conflict if the row is gone
 * or its version is not `version`. A counter has no version, so only its existence counts.
 */
export interface RemoveOrHold {
  /** `remove`: a row that goes away. `hold`: a row that was read and must not change. */
  readonly kind: "remove" | "hold";
  /** The collection of the row. */
  readonly collection: Collection;
  /** The primary key of the row. */
  readonly key: readonly KeyValue[];
  /** The version that was read. */
  readonly version: number;
}

/** Adds to a counter, which begins at zero. Never conflicts. */
export interface Add {
  /** `add`: numbers to add to a counter. */
  readonly kind: "add";
  /** The collection of the counter. */
  readonly collection: Collection;
  /** The key of the counter, and in the other columns the numbers to add. */
  readonly row: Row;
}

/** What a storage can do. */
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
   * Whether a group's reads return results instead of promises. If true, the storage has a single
   * writer, and the commands of a group run one after the other. If false, they run concurrently,
   * so that their reads share round trips, and a command runs again if an earlier one wrote a row
   * that it had read.
   */
  readonly synchronous: boolean;
}

/** Whether commits of other processes may interleave with a group. */
export type Access = "shared" | "exclusive";

/** A request under `key`. At most `limit` requests are admitted in any `window` milliseconds. */
export interface AdmissionRequest {
  /** What is counted, such as the id of an API key. */
  readonly key: string;
  /** Maximum number of requests in `window`. */
  readonly limit: number;
  /** The length of the window, in milliseconds. */
  readonly window: number;
}

/** The result of an admission request. */
export interface Admission {
  /** Whether the request may proceed. */
  readonly admitted: boolean;
  /** The `limit` of the request. */
  readonly limit: number;
  /** How many more requests would be admitted now. */
  readonly remaining: number;
  /** Milliseconds until the whole quota is free. */
  readonly reset_ms: number;
  /** Milliseconds until one more request is admitted. 0 if one would be admitted now. */
  readonly retry_after_ms: number;
}

/**
 * A storage adapter: where the engine keeps its data. `storageConformance` of `tidings/testing`
 * tests one. `Tx` is the handle that `transaction` passes on. It is undefined if there is no
 * `transaction`.
 */
export interface StoragePort<Tx extends object | undefined = object | undefined> {
  /** What the storage can do. */
  readonly capabilities: StorageCapabilities;

  /**
   * Connects. Updates the schema if the storage is empty or older than the code, unless the adapter
   * is configured to leave that to `migrate`. Rejects a storage newer than the code. Idempotent.
   * @throws TidingsError `storage_unavailable`, `storage_damaged`, `storage_newer`,
   * `storage_outdated`
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
  /**
   * Joins an open transaction of the host application, which must commit it. It may stay open for
   * long. A storage with several writers must not let others wait for what it adds to counters and
   * inserts into logs.
   */
  host?(handle: unknown): Group;
  /**
   * Runs `work` in a new transaction. `host` accepts the handle, and the host application can run
   * its own statements on it. Commits when `work` resolves. Otherwise rolls back, discards the
   * handle, because `work` may still run, and rejects with the error.
   * @throws TidingsError `invalid_option` when `work` ended the transaction itself, and the
   * database's error when a constraint of the host application fails at the commit
   */
  transaction?<T>(work: (handle: Tx) => Promise<T>): Promise<T>;
  /**
   * Whether the current call comes from inside the work of an open call of `transaction`. The
   * engine refuses a command there that does not join it: the command would commit even if the
   * transaction rolls back, or both would wait for each other. Without this method, the engine
   * refuses none.
   */
  isInsideTransaction?(): boolean;
  /**
   * Admits requests by sliding logs that all processes share, using the storage's clock. Returns
   * one result per request, in order. Without this method each process counts its own requests.
   */
  admit?(requests: readonly AdmissionRequest[]): Promise<readonly Admission[]>;
  /**
   * Shows which engines are alive. Without it, the running jobs of an engine that crashed wait
   * until their leases expire.
   */
  readonly engineLocks?: EngineLocks;
  /** Reads committed rows, on a separate connection. */
  readonly reader: Reader;
  /**
   * Calls `listener` when another engine may have committed, of this process or another, and
   * `onDamage` once when the storage finds that its files were damaged while they are open. From
   * then on it refuses commits with that error, `storage_damaged`. If several engines share this
   * object, each commit calls all their listeners. Returns a function that unsubscribes.
   */
  watch?(listener: () => void, onDamage?: (error: TidingsError) => void): () => void;
  /**
   * Carries short texts between the engines of a storage. Nothing is stored. Calls `listener` with
   * each text that another engine sends from now on, soon, at most once, and in the order of its
   * sender. Texts are lost while the connection is down or when too many wait, and equal texts at
   * the same time may arrive as one. Without this method, signals stay within an engine.
   */
  signals?(listener: (text: string) => void): SignalLine;
  /**
   * Yields to the event loop. Resolves after pending timers, sockets and other work had a chance to
   * run.
   */
  yieldToEventLoop(): Promise<void>;
  /**
   * Called when an engine should have stopped by now. Unless `stopped` aborts within 2 seconds,
   * lets the calls in progress fail that wait, for example for a lock, for a migration or for a
   * server that does not respond. Later calls that would have to wait fail too, until the storage
   * is opened again. Without this method, the engine waits for all of them.
   */
  abandonUnless?(stopped: AbortSignal): Promise<void>;
  /**
   * Closes after open groups end. Idempotent. If several engines share it, the last one closes it.
   */
  close(): Promise<void>;
}

/** One engine's connection to the others. */
export interface SignalLine {
  /** Sends a text of at most 4,000 bytes in UTF-8, without NUL. Never throws and never waits. */
  send(text: string): void;
  /** Receives and sends no more. */
  leave(): void;
}

/** Reads committed rows. */
export interface Reader {
  /** Returns one list of rows per lookup, in order. */
  get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]>;
  /** Returns the rows of a range, in its order. */
  range(range: Range): Promise<readonly Row[]>;
  /** Returns one list of rows per search, in order. */
  search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]>;
}

/** A group of commands that share one commit. */
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
   * @throws TidingsError `storage_unavailable`: nothing was written, or the outcome is unknown;
   * `storage_damaged`: a retry does not help
   */
  commit(writes: readonly Write[]): void | Promise<void>;
  /** Ends the group without writing. Never throws. */
  abort(): void | Promise<void>;
}

/** Options of a `StorageConflict`. */
export interface StorageConflictOptions extends ErrorOptions {
  /**
   * Whether a command in a transaction of the host application would meet the conflict again if it
   * ran again in the same transaction.
   * @default false
   */
  readonly lastsForTransaction?: boolean;
  /**
   * Whether another transaction kept a row or a unique key locked for longer than a group waits,
   * such as an open transaction of the host application. The commands of the group run again. Those
   * that need the row wait outside the groups until it is free.
   * @default false
   */
  readonly isLocked?: boolean;
}

/**
 * A storage throws this when a version guard or a unique index conflicted. Nothing was written. The
 * engine runs the commands of the group again.
 */
export class StorageConflict extends Error {
  /** `StorageConflict`. */
  override readonly name = "StorageConflict";
  /** Whether the same transaction of the host application would meet the conflict again. */
  readonly lastsForTransaction: boolean;
  /** Whether another transaction keeps a row or a unique key locked. */
  readonly isLocked: boolean;

  /** Says that nothing was written. The message is for the log. */
  constructor(message?: string, options?: StorageConflictOptions) {
    super(message, options);
    this.lastsForTransaction = options?.lastsForTransaction ?? false;
    this.isLocked = options?.isLocked ?? false;
  }
}

/**
 * A storage throws this when the database will never accept a row (a constraint, a size). Nothing
 * was written. The engine runs each command of the group alone. Only the one with this row fails.
 */
export class StorageRefusal extends Error {
  /** `StorageRefusal`. */
  override readonly name = "StorageRefusal";
}
