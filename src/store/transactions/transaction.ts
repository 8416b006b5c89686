/** What a command sees of its transaction, and what the store calls in it. */
import type { Id, Scope } from "../../kernel/index.ts";
import type {
  Collection,
  Index,
  KeyValue,
  ScopedCollection,
  ScopedColumns,
  ScopedIndex,
  ScopedUniqueIndex,
  Seen,
  UniqueIndex,
} from "../../ports/index.ts";

export interface ReadOptions {
  /**
   * Guards the row even if this command does not write it: if another command writes the row before
   * the commit, this one runs again. Use it for decisions that depend on a row that is only read.
   *
   * With `recent`, the first run of the command takes a row that this process wrote recently from
   * memory, and reads nothing. If another process has changed the row since, the command runs again
   * and reads the storage. Use it only for look-ups by primary key of rows that one transaction
   * leaves to the next. Do not pass their JSON columns on: other commands hold the same objects.
   */
  readonly hold?: boolean | "recent";
  /**
   * Locks the row until this command's commit, so that no other command writes it. The read also
   * returns undefined if another process locks or writes the row at this moment, so that a
   * dispatcher takes another job instead. For rows of a queue (`CollectionKind`), in a commit with
   * the option `locks`.
   */
  readonly lock?: boolean;
}

/** The order of an index, or its reverse. */
export type Order = "ascending" | "descending";

/** A read that a transaction is going to make. */
export interface PlannedRead<I extends Index = Index> {
  readonly index: I;
  /** The values of the first columns of the index, without the scope in a scoped transaction. */
  readonly key: readonly KeyValue[];
  /** The `limit` of `list`. By default 1, as for `get`. */
  readonly limit?: number;
}

/**
 * Derives rows from the new rows of a collection, at the end of the transaction that inserts them.
 */
export interface Projection {
  /** The collection whose new rows are passed to `project`. */
  readonly of: Collection;
  /** The reads that `project` makes within a scope, whatever the rows are. */
  readonly reads: readonly PlannedRead<ScopedIndex>[];
  project(tx: UnscopedTx, rows: readonly object[]): Promise<void>;
}

/**
 * Begins the work that new rows of a collection ask for, at the end of the transaction that inserts
 * them. `src/queue/dispatcher/begin-at-once.ts` tells what for.
 */
export interface Starter<R extends object = object> {
  /** The collection whose new rows are passed to `begin`. */
  readonly of: Collection<R>;
  /** Returns what began, or undefined if it begins nothing. If it throws, the command fails. */
  begin(tx: UnscopedTx, rows: readonly R[]): Promise<BegunWork | undefined>;
}

/** Work that began in a transaction. One of its functions is called, once. */
export interface BegunWork {
  /** Continues the work, because the transaction has been committed. */
  readonly onCommitted: () => void;
  /** Forgets the work, because the transaction has failed or runs again. */
  readonly onUndone: () => void;
  /**
   * Finds out whether the transaction was committed, and then continues the work. The storage
   * failed, and the answer to the commit may have been lost.
   */
  readonly onOutcomeUnknown: () => void;
}

/**
 * A transaction within one account and mode. Keys and new rows leave out `account_id` and `mode`.
 * The transaction adds them, so a command cannot name the rows of another scope.
 *
 * Reads see the command's own writes, the writes of commands that commit in the same group, and
 * committed rows. Writes are buffered. They take effect when the command returns, all or none.
 *
 * A command may await its transaction and nothing else. It may run several times, each time from
 * the start, so it must have no side effects outside the transaction.
 */
export interface Tx {
  /** When this run of the command started, in milliseconds since the epoch. */
  readonly now: number;
  /** The account and mode whose rows the transaction reads and writes. */
  readonly scope: Scope;
  /**
   * Draws an id for a new row. If the command runs again, it draws new ids. No stored row has the
   * id. So if the key of a read contains it, the read does not ask the storage.
   */
  drawId<P extends string>(prefix: P): Id<P>;

  /**
   * Returns the row with a unique key, or undefined if there is none. If the command then writes or
   * holds the row, the commit checks that nobody has changed it.
   */
  get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined>;

  /**
   * Returns up to `limit` rows whose first index columns equal `key`: the first ones in index
   * order, or with `descending` the last ones in reverse order. The rows are guarded like those of
   * `get`. Another command may still add a row under the key.
   */
  list<R extends Scope>(
    index: ScopedIndex<R>,
    key: readonly KeyValue[],
    limit: number,
    order?: Order,
  ): Promise<readonly Seen<R>[]>;

  /**
   * Inserts a row. If another row has its unique key at the commit, the command runs again and sees
   * that row. So one of several concurrent inserts wins.
   */
  insert<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<ScopedColumns<R>>): Seen<R>;

  /**
   * Updates a row and returns it. `seen` must be what the last read or write of the row returned.
   * @throws TypeError if `seen` is outdated
   */
  update<R extends Scope>(
    collection: ScopedCollection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<ScopedColumns<R>>>,
  ): Seen<R>;

  /**
   * Writes a row without a change, and returns it. Conflicts with every transaction that writes or
   * holds the row: the later of the two runs again and sees what the other wrote. Use it if a
   * transaction that changes the row must find what this one writes.
   */
  touch<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): Seen<R>;

  /** Removes a row. `seen` must be what the last read or write of the row returned. */
  remove<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): void;

  /**
   * Adds to a counter: `row` holds its key and the amounts. Reads nothing, so it never conflicts.
   */
  add<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<ScopedColumns<R>>): void;

  /** Runs `work`. If it throws, discards its writes and rethrows. Attempts must not overlap. */
  attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T>;

  /**
   * Adds reads that the command is going to make to the round trip of its next read. The reads of a
   * round trip have no order, so leave out a read that must follow another. Apart from that, this
   * changes no result. Does nothing, and does not call `plan`, if reads of the storage need no
   * round trip.
   */
  prefetch(plan: () => readonly PlannedRead<ScopedIndex>[]): void;

  /**
   * Prefetches what earlier commands of this process have remembered about a subject. So the
   * command need not first read the rows that hold these keys. If a key has changed since, the
   * command reads the new one in a round trip of its own. Returns whether there is anything to
   * prefetch.
   */
  prefetchAbout(subject: string): boolean;

  /**
   * Remembers reads about a subject for `prefetchAbout`, the last key of each index. Does nothing,
   * and does not call `plan`, if reads of the storage need no round trip.
   */
  remember(subject: string, plan: () => readonly PlannedRead<ScopedIndex>[]): void;
}

/**
 * The transaction without a scope. It reads and writes the rows of all scopes, by their full keys.
 * For work that spans accounts or determines the account: dispatching jobs, looking up API keys,
 * receiving from carriers, clean-up. `test/architecture/unscoped.test.ts` lists its users.
 */
export interface UnscopedTx {
  readonly now: number;
  drawId<P extends string>(prefix: P): Id<P>;

  /** This transaction within a scope. Ignores other fields, so a row can be passed as its scope. */
  in(scope: Scope): Tx;

  get<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined>;

  list<R extends object>(
    index: Index<R>,
    key: readonly KeyValue[],
    limit: number,
    order?: Order,
  ): Promise<readonly Seen<R>[]>;

  insert<R extends object>(collection: Collection<R>, row: NoInfer<R>): Seen<R>;

  update<R extends object>(
    collection: Collection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<R>>,
  ): Seen<R>;

  touch<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R>;

  remove<R extends object>(collection: Collection<R>, seen: Seen<R>): void;

  add<R extends object>(collection: Collection<R>, row: NoInfer<R>): void;

  attempt<T>(work: (tx: UnscopedTx) => Promise<T>): Promise<T>;

  prefetch(plan: () => readonly PlannedRead[]): void;

  /** All transactions share the subjects, so their names must tell the scope. */
  prefetchAbout(subject: string): boolean;
  remember(subject: string, plan: () => readonly PlannedRead[]): void;
}

/**
 * The unscoped transaction that a scoped one delegates to. Reads that get a scope leave out the
 * rows of other scopes.
 */
export interface BaseTx extends UnscopedTx {
  get<R extends object>(
    index: UniqueIndex<R>,
    key: readonly KeyValue[],
    options?: ReadOptions,
    scope?: Scope,
  ): Promise<Seen<R> | undefined>;
  list<R extends object>(
    index: Index<R>,
    key: readonly KeyValue[],
    limit: number,
    order?: Order,
    scope?: Scope,
  ): Promise<readonly Seen<R>[]>;
  /** Draws the version of a new row. */
  firstVersion(): number;
  /** Inserts a row that has its version. Takes ownership of the object. */
  put<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R>;
}
