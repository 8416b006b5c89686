/**
 * The storage port. The engine owns the logic of transactions (`src/transactions`): bodies, buffered writes, overlays,
 * merging and running again. An adapter reads keys and ranges, and commits merged writes.
 *
 * Glossary
 * - *group*: what one commit writes for up to 128 concurrent commands.
 * - *version*: each write of a row adds one to it, and names the one that it saw: a group whose guard fails leaves nothing
 *   and is run again. A row that comes anew under the key of one that is gone begins with a version that that one never had.
 */
import type { Collection, Index, KeyValue, Schema, WordIndex } from "./collection.ts";

/** A row as the adapter passes it: every column by name, and `version` but for counters. */
export type Row = { readonly [column: string]: unknown };

/** Rows whose index columns equal `key` (a prefix is allowed), in index order, `limit` at most. */
export interface Lookup {
  readonly index: Index;
  readonly key: readonly KeyValue[];
  readonly limit: number;
  /**
   * Takes the rows that it answers: until the group ends nobody else writes them. A row that another group or a host's
   * transaction is writing at this moment is not waited for and not answered. Only where several can write at once does
   * that differ from any other look-up.
   */
  readonly claim?: boolean;
}

/**
 * A stretch of an index, for lists: the leading columns equal `prefix`; the rest of the index's columns, followed by the
 * primary key's that are not in it, order the rows. `after` and `until` are bounds on those, each a tuple of any length:
 * rows strictly beyond `after` and strictly before `until`, in the direction of `order`.
 * `where` filters further; a list of values means any of them. The adapter applies it while it walks, for as long as it
 * takes to find `limit` rows: whoever can't tell how many pass bounds the stretch (`src/store/look.ts`).
 * `skip` leaves out the first so many of the rows that would be answered.
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
 * Rows that have all of the words, up to `limit` of them, in any order. A `prefix` stands for every word that begins with it. What it
 * costs may grow with the number of rows that have the rarest of its words, never with the number of rows that there are.
 */
export interface Search {
  readonly index: WordIndex;
  /** One at the least. */
  readonly words: readonly SearchedWord[];
  readonly limit: number;
}

/** Lower-case letters and digits alone. */
export interface SearchedWord {
  readonly word: string;
  readonly prefix: boolean;
}

/**
 * One merged write; a group has at most one for each row (and any number of `add` to distinct counters).
 * - `insert`: refused with a conflict when the primary key or a unique index is taken.
 * - `update`, `remove`: refused with a conflict when the row is gone or its version is not `version`.
 *   `row` is the whole new row, its `version` included; `changed` names the columns that differ.
 * - `hold`: writes nothing, refused like an update.
 * - `add`: adds the non-key columns of `row` to the counter of its key, which begins at zero.
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
  /** Committed rows survive the process. */
  readonly durable: boolean;
  /** Several processes work on it at once; they hear of each other through `watch`. */
  readonly shared: boolean;
  /** `host(handle)` joins a transaction of the host. */
  readonly hostTransactions: boolean;
  /** How many of `transaction` the engine may have open for itself, so that the rest of its work goes on beside them; 0: none at all. */
  readonly transactions: number;
  /**
   * A group's reads answer at once, without a promise: its commands run one after the other. Else they run side by side, so that
   * their reads travel together, and those run again whose reads an earlier one has overwritten.
   */
  readonly synchronous: boolean;
}

export type Access = "shared" | "exclusive";

/** One request under a key of which `limit` are admitted in any `window` (milliseconds). */
export interface AdmissionRequest {
  readonly key: string;
  readonly limit: number;
  readonly window: number;
}

/** What became of one. */
export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  /** How many more would be admitted now. */
  readonly remaining: number;
  /** Milliseconds until the whole quota is free. */
  readonly reset_ms: number;
  /** Milliseconds until one more is admitted; 0 when one would be now. */
  readonly retry_after_ms: number;
}

/** `Tx` is what `transaction` gives to its work; undefined where there is none. */
export interface StoragePort<Tx extends object | undefined = object | undefined> {
  readonly capabilities: StorageCapabilities;

  /**
   * Connects. Brings the schema up to date when the storage is empty or older (unless the adapter was told to leave that to
   * `migrate`), and refuses one that is newer than the code. Idempotent.
   * @throws TidingsError `storage_unavailable`, `storage_newer`, `storage_outdated`
   */
  open(schema: Schema): Promise<void>;
  /** Brings the schema up to date: versioned, atomic, safe when several processes start at once. */
  migrate(schema: Schema): Promise<void>;
  /** The statements that take a storage from schema version `from` (0: empty) to the schema. */
  migrationSql(schema: Schema, from?: number): string;

  /**
   * Begins a group. One commits at a time, in the order in which they were begun; while it does, the bodies of the next may already
   * read.
   * By default a `shared` one, which may meet a conflict. An `exclusive` one is asked for when it did: where groups of several
   * processes meet, the others' commits wait from its first read to its end, so that it gets through.
   */
  begin(how?: Access): Group;
  /** Joins the host's open transaction: reads see it, `commit` writes into it, the host commits. */
  host?(handle: unknown): Group;
  /**
   * Runs `work` in a transaction of its own, on a handle that `host` takes and that the host's own statements run on. Commits when
   * `work` resolves, else rolls back and rejects with what it threw.
   */
  transaction?<T>(work: (handle: NonNullable<Tx>) => Promise<T>): Promise<T>;
  /**
   * Admits requests by sliding logs that all processes share, judged by the storage's clock. One answer for each asked, in order.
   * Without it each process counts for itself.
   */
  admit?(asked: readonly AdmissionRequest[]): Promise<readonly Admission[]>;
  /** Committed rows only, on a connection of its own. */
  readonly reader: Reader;
  /** Calls `listener` when another process may have committed. Answers how to stop. */
  watch?(listener: () => void): () => void;
  /** Resolves in a later turn of the event loop, when what is pending had its chance: timers, sockets, other work. */
  turn(): Promise<void>;
  /** Idempotent; of several engines that opened it, the last one closes it. Groups under way end first. */
  close(): Promise<void>;
}

export interface Reader {
  /** One list of rows for each look-up, in order. */
  get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]>;
  range(range: Range): Promise<readonly Row[]>;
  /** One list of rows for each search, in order. */
  search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]>;
}

export interface Group {
  /** Reads for the bodies of this group. Synchronous where the storage is. */
  read(
    lookups: readonly Lookup[],
  ): readonly (readonly Row[])[] | Promise<readonly (readonly Row[])[]>;
  /**
   * Writes all or nothing, and resolves when it is as durable as the storage gets. Ends the group.
   * Rows of a log get their positions here: never is p seen after q > p was.
   * @throws StorageConflict a guard failed: run the bodies again
   * @throws StorageRefusal the database will never take one of the writes: the group is taken apart to find it
   * @throws TidingsError `storage_unavailable`: nothing was written, or it can't be known whether it was
   */
  commit(writes: readonly Write[]): void | Promise<void>;
  /** Ends the group without a trace. Never throws. */
  abort(): void | Promise<void>;
}

/** A version guard or a unique index refused the group; nothing was written. */
export class StorageConflict extends Error {
  override readonly name = "StorageConflict";
}

/** The database refused a value or a row for good (a constraint, a size); nothing was written. */
export class StorageRefusal extends Error {
  override readonly name = "StorageRefusal";
}
