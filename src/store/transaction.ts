import type {
  Collection,
  Index,
  KeyValue,
  OwnColumns,
  ScopedCollection,
  ScopedIndex,
  ScopedUniqueIndex,
  Seen,
  UniqueIndex,
} from "../ports/index.ts";
import type { Scope } from "../kernel/index.ts";

export interface ReadOptions {
  /**
   * Guards the row also when it is not written: the command runs again if another one wrote it meanwhile. For decisions
   * that rest on a row of which only the reading matters.
   */
  readonly hold?: boolean;
  /**
   * Takes the row, so that nobody else writes it until this command's commit. Not there at all when another process is taking or
   * writing it at this moment, which is what a dispatcher wants: it takes another one. For work that is committed with `claims`.
   */
  readonly claim?: boolean;
}

/** Makes more of new rows of a collection, in the transaction that inserted them, when all else in it is done. */
export interface Projection {
  readonly of: Collection;
  project(tx: UnscopedTx, rows: readonly object[]): Promise<void>;
}

/**
 * What a command sees of the storage: the rows of one account and mode. Keys and new rows leave out `account_id` and `mode`, which the
 * transaction adds, so a command can't name another scope's rows.
 *
 * Reads answer the command's own writes, then those of the commands that commit together with it, then what is committed. Writes are
 * buffered and take effect when the command returns, all or none.
 *
 * A command may await its transaction and nothing else. It may be run again, from the start, up to 8 times, so it changes
 * nothing but through the transaction.
 */
export interface Tx {
  /** The clock's time when this run began, in milliseconds. */
  readonly now: number;
  /** The account and mode whose rows it reads and writes. */
  readonly scope: Scope;

  /** The row under a unique key. A row that is then written is guarded; so is one that is held. */
  get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined>;

  /**
   * Up to `limit` rows whose first index columns equal `key`, in index order. The rows are guarded like those of `get`; that no
   * other row joins them is not.
   */
  list<R extends Scope>(
    index: ScopedIndex<R>,
    key: readonly KeyValue[],
    limit: number,
  ): Promise<readonly Seen<R>[]>;

  /**
   * One winner under any race: where a unique key is taken at commit, the command is run again and sees the row that took it.
   */
  insert<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<OwnColumns<R>>): Seen<R>;

  /** Answers the row as it is now; `seen` must be its latest form. */
  update<R extends Scope>(
    collection: ScopedCollection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<OwnColumns<R>>>,
  ): Seen<R>;

  remove<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): void;

  /** Adds to a counter: `row` has its key and the sums to add. Nothing is read, so nothing is contended. */
  add<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<OwnColumns<R>>): void;

  /** Runs `work`; if it throws, what it wrote is forgotten and the error is thrown on. One at a time. */
  attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/**
 * The same transaction without a scope: it reaches all rows, by their whole keys. For work that spans accounts or finds out whose it is:
 * dispatching, looking up keys, what carriers bring, clearing up. `test/architecture/unscoped.test.ts` lists who uses it.
 */
export interface UnscopedTx {
  readonly now: number;

  /** This transaction within a scope. Extra fields are ignored, so a row stands for its scope. */
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
  ): Promise<readonly Seen<R>[]>;

  insert<R extends object>(collection: Collection<R>, row: NoInfer<R>): Seen<R>;

  update<R extends object>(
    collection: Collection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<R>>,
  ): Seen<R>;

  remove<R extends object>(collection: Collection<R>, seen: Seen<R>): void;

  add<R extends object>(collection: Collection<R>, row: NoInfer<R>): void;

  attempt<T>(work: (tx: UnscopedTx) => Promise<T>): Promise<T>;
}
