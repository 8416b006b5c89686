import type { GenerateId, Id, Scope } from "../../kernel/index.ts";
import {
  keyOf,
  StorageConflict,
  type Collection,
  type Index,
  type KeyValue,
  type Lookup,
  type ScopedIndex,
  type Seen,
  type UniqueIndex,
} from "../../ports/index.ts";
import { rowsToRead, withOverlay, type Overlay } from "./overlay.ts";
import type { RememberedReads } from "./remembered-reads.ts";
import { isIn, rowsInScope, ScopedTx } from "./scoped-tx.ts";
import type { GroupSnapshot, Rows } from "./snapshot.ts";
import { noColumns, type Entry, type VersionedRow } from "./touched-rows.ts";
import type { BaseTx, Order, PlannedRead, ReadOptions, Tx, UnscopedTx } from "./transaction.ts";

interface BufferedTxOptions {
  readonly now: number;
  readonly drawId: GenerateId;
  readonly snapshot: GroupSnapshot;
  readonly overlay: Overlay;
  /** Draws the version of a new row. */
  readonly firstVersion: () => number;
  /** The reads that will follow in each scope. */
  readonly planned: readonly PlannedRead<ScopedIndex>[] | undefined;
  /** Undefined if reads of the storage need no round trip. */
  readonly remembered: RememberedReads | undefined;
  /** Called when a read that the command waited for has settled, before the command continues. */
  readonly onReadSettled: () => void;
}

/** Reads committed rows with buffered writes applied. Commands use it through a `ScopedTx`. */
export class BufferedTx implements BaseTx {
  readonly now: number;
  /** Draws the version of a new row. */
  readonly firstVersion: () => number;
  /** What the command has read from its group's snapshot. Its result depends on it. */
  readonly lookups: Lookup[] = [];
  readonly #options: BufferedTxOptions;
  readonly #snapshot: GroupSnapshot;
  readonly #overlay: Overlay;
  readonly #insertions: { readonly collection: Collection; readonly row: object }[] = [];
  /** The rows that were taken from memory. */
  readonly #recent: { readonly collection: Collection; readonly row: VersionedRow }[] = [];
  /** The ids that the command has drawn. No stored row has one of them. */
  readonly #drawn: string[] = [];
  #scoped: ScopedTx | undefined;
  /** How many reads of the storage the command waits for. */
  #waits = 0;
  /** Ends a wait. Undefined before the first one: on a synchronous storage there is none. */
  #endWait: (() => void) | undefined;
  #hasEnded = false;

  constructor(options: BufferedTxOptions) {
    this.#options = options;
    this.now = options.now;
    this.firstVersion = options.firstVersion;
    this.#snapshot = options.snapshot;
    this.#overlay = options.overlay;
  }

  /** Returns the rows that were inserted into a collection, in order. */
  insertionsInto(collection: Collection): readonly object[] {
    return this.#insertions.filter((each) => each.collection === collection).map(({ row }) => row);
  }

  /**
   * Guards the rows that were taken from memory, after writes were undone. They may be outdated,
   * and the error or what the command did next may depend on them.
   */
  holdRecent(): void {
    for (const { collection, row } of this.#recent) this.#hold(collection, row);
  }

  /** Whether the command waits for the storage. */
  get isWaiting(): boolean {
    return this.#waits > 0;
  }

  /** Ends the transaction. Call it when the command has returned. Later reads and writes throw. */
  end(): void {
    this.#hasEnded = true;
  }

  drawId<P extends string>(prefix: P): Id<P> {
    const id = this.#options.drawId(prefix);
    this.#drawn.push(id);
    return id;
  }

  in(scope: Scope): Tx {
    const last = this.#scoped;
    // The commands, the projection and the starter of a transaction mostly share a scope.
    if (last !== undefined && isIn(last.scope, scope)) return last;
    const tx = new ScopedTx(this, scope);
    tx.prefetch(() => this.#options.planned ?? []);
    this.#scoped = tx;
    return tx;
  }

  async get<R extends object>(
    index: UniqueIndex<R>,
    key: readonly KeyValue[],
    options?: ReadOptions,
    scope?: Scope,
  ): Promise<Seen<R> | undefined> {
    this.#checkNotEnded();
    const { collection } = index;
    const { hold = false, lock = false } = options ?? {};
    if (lock && collection.kind !== "queue") throw new TypeError(`${collection.name} is no queue`);
    const primary = index === collection.primary;
    if (primary) {
      const touched = this.#overlay.find(collection, key);
      if (touched !== undefined) return rowIn<R>(scope, touched.row);
      const recent = hold === "recent" ? this.#snapshot.recent(collection, key) : undefined;
      if (recent !== undefined) {
        this.#recent.push({ collection, row: recent });
        this.#hold(collection, recent);
        return rowIn<R>(scope, recent);
      }
    }
    const lookup: Lookup = lock ? { index, key, limit: 1, lock } : { index, key, limit: 1 };
    // The overlay has no row with this primary key.
    const rows = primary ? this.#read(lookup) : this.#rows(lookup);
    const [found] = rows instanceof Promise ? await rows : rows;
    this.#checkNotEnded();
    const row = rowIn<R>(scope, found);
    if (row !== undefined && hold !== false) this.#hold(collection, row);
    return row;
  }

  async list<R extends object>(
    index: Index<R>,
    key: readonly KeyValue[],
    limit: number,
    order: Order = "ascending",
    scope?: Scope,
  ): Promise<readonly Seen<R>[]> {
    this.#checkNotEnded();
    const read = this.#rows({ index, key, limit, order });
    const rows = (read instanceof Promise ? await read : read) as readonly (Seen<R> &
      ScopeColumns)[];
    return scope === undefined ? rows : rowsInScope(scope, rows);
  }

  insert<R extends object>(collection: Collection<R>, row: R): Seen<R> {
    return this.put(collection, { ...row, version: this.firstVersion() });
  }

  /** Inserts a row that has its version. Takes ownership of the object. */
  put<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R> {
    this.#checkNotEnded();
    const key = keyOf(collection, seen);
    let next = seen;
    this.#overlay.change(collection, key, (touched) => {
      if (touched?.row !== undefined) {
        throw new StorageConflict(`${collection.name}: another row has this key`);
      }
      const base = touched?.base;
      if (base === undefined) return { key, base, row: seen, changed: noColumns };
      next = patched(base, seen, {});
      const changed = Object.keys(seen).filter((each) => each !== "version");
      return { key, base, row: next, changed };
    });
    this.#insertions.push({ collection, row: next });
    return next;
  }

  update<R extends object>(collection: Collection<R>, seen: Seen<R>, patch: Partial<R>): Seen<R> {
    this.#checkNotEnded();
    const key = keyOf(collection, seen);
    let row = seen;
    this.#overlay.change(collection, key, (touched) => {
      checkLatest(collection, touched, seen);
      const base = touched === undefined ? seen : touched.base;
      row = patched<R>(base, seen, patch);
      const changed = union(touched?.changed ?? noColumns, Object.keys(patch));
      return { key, base, row, changed };
    });
    return row;
  }

  touch<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R> {
    return this.update(collection, seen, {});
  }

  remove<R extends object>(collection: Collection<R>, seen: Seen<R>): void {
    this.#checkNotEnded();
    const key = keyOf(collection, seen);
    this.#overlay.change(collection, key, (touched) => {
      checkLatest(collection, touched, seen);
      const base = touched === undefined ? seen : touched.base;
      return { key, base, row: undefined, changed: noColumns };
    });
  }

  add<R extends object>(collection: Collection<R>, row: R): void {
    this.#checkNotEnded();
    this.#overlay.add(collection, row as VersionedRow);
  }

  async attempt<T>(work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    this.#checkNotEnded();
    const mark = this.#overlay.mark();
    const { length } = this.#insertions;
    try {
      return await work(this);
    } catch (error) {
      this.#checkNotEnded();
      this.#overlay.rollBack(mark);
      this.#insertions.length = length;
      this.holdRecent();
      throw error;
    }
  }

  prefetch(plan: () => readonly PlannedRead[]): void {
    this.#checkNotEnded();
    this.#snapshot.prefetch(() => {
      const lookups: Lookup[] = [];
      for (const { index, key, limit = 1 } of plan()) {
        if (this.#isNew(key)) continue;
        const lookup = { index, key, limit };
        const toRead = rowsToRead(lookup, this.#overlay);
        lookups.push(toRead === limit ? lookup : { index, key, limit: toRead });
      }
      return lookups;
    });
  }

  prefetchAbout(subject: string): boolean {
    const reads = this.#options.remembered?.about(subject) ?? [];
    if (reads.length > 0) this.prefetch(() => reads);
    return reads.length > 0;
  }

  remember(subject: string, plan: () => readonly PlannedRead[]): void {
    this.#options.remembered?.add(subject, plan());
  }

  /** Returns the stored rows with a key, with the buffered writes applied. */
  #rows(lookup: Lookup): Rows | Promise<Rows> {
    const limit = rowsToRead(lookup, this.#overlay);
    const stored = this.#read(limit === lookup.limit ? lookup : { ...lookup, limit });
    const overlaid = (rows: Rows): Rows => {
      this.#checkNotEnded();
      return withOverlay(rows, lookup, this.#overlay);
    };
    return stored instanceof Promise ? stored.then(overlaid) : overlaid(stored);
  }

  #read(lookup: Lookup): Rows | Promise<Rows> {
    if (this.#isNew(lookup.key)) return [];
    this.lookups.push(lookup);
    const rows = this.#snapshot.read(lookup);
    if (rows instanceof Promise) {
      this.#waits++;
      this.#endWait ??= () => {
        this.#waits--;
        this.#options.onReadSettled();
      };
      void rows.then(this.#endWait, this.#endWait);
    }
    return rows;
  }

  /** Whether a key contains an id that the command has drawn, so that no row is stored under it. */
  #isNew(key: readonly KeyValue[]): boolean {
    for (const id of this.#drawn) if (key.includes(id)) return true;
    return false;
  }

  /** Guards a row that is only read. */
  #hold(collection: Collection, row: VersionedRow): void {
    const key = keyOf(collection, row);
    if (this.#overlay.find(collection, key) !== undefined) return;
    this.#overlay.put(collection, { key, base: row, row, changed: noColumns });
  }

  #checkNotEnded(): void {
    if (this.#hasEnded) {
      throw new Error("The command has returned. Its transaction can no longer be used.");
    }
  }
}

/** @throws TypeError if `seen` is outdated */
function checkLatest(collection: Collection, touched: Entry | undefined, seen: object): void {
  if (touched === undefined || touched.row === seen) return;
  throw new TypeError(
    `${collection.name}: the row to write is outdated. Pass the row that the last write returned.`,
  );
}

function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return some.length === 0 ? others : [...new Set([...some, ...others])];
}

/**
 * Returns a row with a patch. The version grows by one per commit, however many patches there are.
 * A new row keeps its first version.
 */
function patched<R extends object>(
  base: VersionedRow | undefined,
  seen: Seen<R>,
  patch: Partial<R>,
): Seen<R> {
  return { ...seen, ...patch, version: base === undefined ? seen.version : base.version + 1 };
}

/** The columns of a row that tell its scope, if the collection has scopes. */
type ScopeColumns = Partial<Scope>;

/** Returns a row that was read, unless it belongs to another scope than the given one. */
function rowIn<R extends object>(
  scope: Scope | undefined,
  row: VersionedRow | undefined,
): Seen<R> | undefined {
  const found = row as (Seen<R> & ScopeColumns) | undefined;
  return found === undefined || scope === undefined || isIn(scope, found) ? found : undefined;
}
