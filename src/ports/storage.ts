/**
 * The storage port. The engine owns the logic of transactions (`src/transactions`): bodies, buffered writes, overlays,
 * merging and running again. An adapter reads keys and ranges, and commits merged writes.
 *
 * Glossary
 * - *lane*: a connection that commits groups, one after the other. All processes on one storage must use equally many.
 * - *group*: what one commit writes for up to 64 concurrent commands.
 * - *version*: how often a row was written; each write names the version that it saw, and a group whose guard fails
 *   as a whole leaves nothing and is run again.
 */
import type { Collection, Index, KeyValue, Schema } from "./collection.ts";

/** A row as the adapter passes it: every column by name, and `version` but for counters. */
export type Row = { readonly [column: string]: unknown };

/** Rows whose index columns equal `key` (a prefix is allowed), in index order, `limit` at most. */
export interface Lookup {
  readonly index: Index;
  readonly key: readonly KeyValue[];
  readonly limit: number;
}

/**
 * A stretch of an index, for lists: the leading columns equal `prefix`; the rest of the index's columns, followed by the
 * primary key's that are not in it, order the rows. `after` and `until` are bounds on those, each a tuple of any length:
 * rows strictly beyond `after` and strictly before `until`, in the direction of `order`.
 * `where` filters further; a list of values means any of them. The adapter applies it while it walks, for as long as it
 * takes to find `limit` rows: whoever can't tell how many pass bounds the stretch (`src/transactions/look.ts`).
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
}

export interface StoragePort {
  readonly capabilities: StorageCapabilities;
  /** How many groups can commit at the same time. */
  readonly lanes: number;

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

  /** Begins a group on lane `n`. The engine begins the next group of a lane only when the last one has ended. */
  begin(lane: number): Group;
  /** Joins the host's open transaction: reads see it, `commit` writes into it, the host commits. */
  host?(handle: unknown): Group;
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
}

export interface Group {
  /** Reads for the bodies of this group. Synchronous where the storage is. */
  read(lookups: readonly Lookup[]): readonly (readonly Row[])[] | Promise<readonly (readonly Row[])[]>;
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
