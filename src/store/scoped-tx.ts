import type {
  Collection,
  KeyValue,
  OwnColumns,
  ScopedCollection,
  ScopedIndex,
  ScopedUniqueIndex,
  Seen,
  UniqueIndex,
} from "../ports/index.ts";
import type { Scope } from "../kernel/index.ts";
import { encodeKey } from "./keys.ts";
import type { ReadOptions, Tx, UnscopedTx } from "./transaction.ts";

/** What a scoped transaction needs of the one that it is a part of. */
export interface BaseTx extends UnscopedTx {
  /** `get` with the encoded key. */
  find<R extends object>(
    index: UniqueIndex<R>,
    key: readonly KeyValue[],
    id: string,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined>;
  /** What a new row's version begins with. */
  firstVersion(): number;
  /** `insert` of a row that has its first version and that nobody else has. */
  put<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R>;
}

/** A transaction within one account and mode. */
export class ScopedTx implements Tx {
  /** What a scoped transaction works on. */
  static baseOf(tx: Tx): BaseTx {
    if (tx instanceof ScopedTx) return tx.#base;
    throw new TypeError("not a transaction of this engine");
  }

  readonly now: number;
  readonly scope: Scope;
  readonly #base: BaseTx;
  readonly #prefix: string;

  constructor(base: BaseTx, { account_id, mode }: Scope, now: number = base.now) {
    this.now = now;
    this.scope = { account_id, mode };
    this.#base = base;
    this.#prefix = encodeKey([account_id, mode]);
  }

  get<R extends Scope, K extends readonly KeyValue[]>(
    index: ScopedUniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    if (index.scoping === "row") return this.#getById(index, key, options);
    const { account_id, mode } = this.scope;
    const id = this.#prefix + encodeKey(key);
    return this.#base.find<R>(index, [account_id, mode, ...key], id, options);
  }

  list<R extends Scope>(
    index: ScopedIndex<R>,
    key: readonly KeyValue[],
    limit: number,
  ): Promise<readonly Seen<R>[]> {
    if (index.scoping === "row") return this.#listById(index, key, limit);
    const { account_id, mode } = this.scope;
    return this.#base.list<R>(index, [account_id, mode, ...key], limit);
  }

  insert<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<OwnColumns<R>>): Seen<R> {
    const { account_id, mode } = this.scope;
    const version = this.#base.firstVersion();
    const seen = { ...row, account_id, mode, version } as unknown as Seen<R>;
    return this.#base.put<R>(collection, seen);
  }

  update<R extends Scope>(
    collection: ScopedCollection<R>,
    seen: Seen<R>,
    patch: Partial<NoInfer<OwnColumns<R>>>,
  ): Seen<R> {
    this.#checkOwn(collection, seen);
    const { account_id, mode } = patch as Partial<Scope>;
    if (account_id !== undefined || mode !== undefined) {
      throw new TypeError(`${collection.name}: a row's account and mode can't be changed`);
    }
    return this.#base.update<R>(collection, seen, patch as Partial<R>);
  }

  remove<R extends Scope>(collection: ScopedCollection<R>, seen: Seen<R>): void {
    this.#checkOwn(collection, seen);
    this.#base.remove<R>(collection, seen);
  }

  add<R extends Scope>(collection: ScopedCollection<R>, row: NoInfer<OwnColumns<R>>): void {
    const { account_id, mode } = this.scope;
    this.#base.add<R>(collection, { ...row, account_id, mode } as unknown as R);
  }

  attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#base.attempt(() => work(this));
  }

  async #getById<R extends Scope>(
    index: ScopedUniqueIndex<R>,
    key: readonly KeyValue[],
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    const row = await this.#base.get<R, readonly KeyValue[]>(index, key, options);
    return row !== undefined && isIn(this.scope, row) ? row : undefined;
  }

  async #listById<R extends Scope>(
    index: ScopedIndex<R>,
    key: readonly KeyValue[],
    limit: number,
  ): Promise<readonly Seen<R>[]> {
    return ownRows(this.scope, await this.#base.list<R>(index, key, limit));
  }

  #checkOwn({ name }: ScopedCollection, row: Scope): void {
    if (!isIn(this.scope, row)) {
      throw new TypeError(`${name}: a row of another account or mode can't be written here`);
    }
  }
}

/**
 * The whole transaction of a scoped one. For modules that keep the rows of all scopes in one collection, such as jobs: they write what
 * belongs to the scope and nothing else. `test/architecture/unscoped.test.ts` lists them.
 */
export function unscoped(tx: Tx | UnscopedTx): UnscopedTx {
  return "in" in tx ? tx : ScopedTx.baseOf(tx);
}

/** The same transaction at another time: what is written says that it happened then. */
export function backdated(tx: Tx, now: number): Tx {
  return new ScopedTx(ScopedTx.baseOf(tx), tx.scope, now);
}

/** Whether a row belongs to a scope. */
export function isIn({ account_id, mode }: Scope, row: Scope): boolean {
  return row.account_id === account_id && row.mode === mode;
}

/** The rows of a scope. All rows under one id are of one scope, so usually these are all of them or none. */
export function ownRows<R extends Scope>(scope: Scope, rows: readonly R[]): readonly R[] {
  return rows.every((row) => isIn(scope, row)) ? rows : rows.filter((row) => isIn(scope, row));
}
