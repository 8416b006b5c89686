import type { Id, Scope } from "../../kernel/index.ts";
import type {
  KeyValue,
  ScopedCollection,
  ScopedColumns,
  ScopedIndex,
  ScopedUniqueIndex,
  Seen,
} from "../../ports/index.ts";
import type { BaseTx, Order, PlannedRead, ReadOptions, Tx, UnscopedTx } from "./transaction.ts";

/** A transaction within one account and mode. */
export class ScopedTx implements Tx {
  /** Returns the transaction that a scoped one delegates to. */
  static baseOf(tx: Tx): BaseTx {
    if (tx instanceof ScopedTx) return tx.#base;
    throw new TypeError("expected a transaction of this engine");
  }

  readonly now: number;
  readonly scope: Scope;
  /** Gives the time and the ids. */
  readonly #source: Pick<Tx, "now" | "drawId">;
  readonly #base: BaseTx;

  constructor(
    base: BaseTx,
    { account_id, mode }: Scope,
    source: Pick<Tx, "now" | "drawId"> = base,
  ) {
    this.now = source.now;
    this.scope = { account_id, mode };
    this.#source = source;
    this.#base = base;
  }

  drawId<P extends string>(prefix: P): Id<P> {
    return this.#source.drawId(prefix);
  }

  get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    return this.#base.get<R>(index, fullKey(this.scope, index, key), options, this.scope);
  }

  list<R extends Scope>(
    index: ScopedIndex<R>,
    key: readonly KeyValue[],
    limit: number,
    order?: Order,
  ): Promise<readonly Seen<R>[]> {
    const own = fullKey(this.scope, index, key);
    return this.#base.list<R>(index, own, limit, order, this.scope);
  }

  insert<R extends Scope>(
    collection: ScopedCollection<R>,
    row: NoInfer<ScopedColumns<R>>,
  ): Seen<R> {
    const { account_id, mode } = this.scope;
    const version = this.#base.firstVersion();
    const seen = { ...row, account_id, mode, version } as unknown as Seen<R>;
    return this.#base.put<R>(collection, seen);
  }

  update<R extends Scope>(
    collection: ScopedCollection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<ScopedColumns<R>>>,
  ): Seen<R> {
    this.#checkOwn(collection, seen);
    const { account_id, mode } = patch as Partial<Scope>;
    if (account_id !== undefined || mode !== undefined) {
      throw new TypeError(`${collection.name}: the account and mode of a row cannot be changed`);
    }
    return this.#base.update<R>(collection, seen, patch as Partial<R>);
  }

  touch<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): Seen<R> {
    return this.update(collection, seen, {});
  }

  remove<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): void {
    this.#checkOwn(collection, seen);
    this.#base.remove<R>(collection, seen);
  }

  add<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<ScopedColumns<R>>): void {
    const { account_id, mode } = this.scope;
    this.#base.add<R>(collection, { ...row, account_id, mode } as unknown as R);
  }

  attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#base.attempt(() => work(this));
  }

  prefetch(plan: () => readonly PlannedRead<ScopedIndex>[]): void {
    this.#base.prefetch(() => this.#scoped(plan()));
  }

  prefetchAbout(subject: string): boolean {
    return this.#base.prefetchAbout(subject);
  }

  remember(subject: string, plan: () => readonly PlannedRead<ScopedIndex>[]): void {
    this.#base.remember(subject, () => this.#scoped(plan()));
  }

  #scoped(reads: readonly PlannedRead<ScopedIndex>[]): readonly PlannedRead[] {
    return reads.map((read) => ({ ...read, key: fullKey(this.scope, read.index, read.key) }));
  }

  #checkOwn({ name }: ScopedCollection, row: Scope): void {
    if (!isIn(this.scope, row)) {
      throw new TypeError(
        `${name}: this transaction cannot write a row of another account or mode`,
      );
    }
  }
}

/**
 * Returns the unscoped transaction behind a scoped one. For modules that keep the rows of all
 * scopes in one collection, such as jobs. They must write only rows that belong to the scope.
 * `test/architecture/unscoped.test.ts` lists these modules.
 */
export function unscoped(tx: Tx | UnscopedTx): UnscopedTx {
  return "in" in tx ? tx : ScopedTx.baseOf(tx);
}

/**
 * Returns the same transaction with another `now` and with ids from then, for rows that record
 * something that happened then.
 */
export function backdated(tx: Tx, then: Pick<Tx, "now" | "drawId">): Tx {
  return new ScopedTx(ScopedTx.baseOf(tx), tx.scope, then);
}

/** Returns the key in an index, with the account and mode if the index begins with them. */
export function fullKey(
  { account_id, mode }: Scope,
  { scoping }: ScopedIndex,
  key: readonly KeyValue[],
): readonly KeyValue[] {
  return scoping === "key" ? [account_id, mode, ...key] : key;
}

/** Whether a row belongs to a scope. */
export function isIn({ account_id, mode }: Scope, row: Partial<Scope>): boolean {
  return row.account_id === account_id && row.mode === mode;
}

/**
 * Returns the rows that belong to a scope. Rows with one id share a scope, so usually all of them
 * match or none.
 */
export function rowsInScope<R extends Partial<Scope>>(
  scope: Scope,
  rows: readonly R[],
): readonly R[] {
  return rows.every((row) => isIn(scope, row)) ? rows : rows.filter((row) => isIn(scope, row));
}
