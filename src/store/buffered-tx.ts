import {
  type Collection,
  type Index,
  keyOf,
  type KeyValue,
  type Lookup,
  type Seen,
  StorageConflict,
  type UniqueIndex,
} from "../ports/index.ts";
import { encodeKey } from "./keys.ts";
import {
  type AnySeen,
  type Entry,
  laidOver,
  mostToRead,
  type Overlay,
  unchanged,
} from "./overlay.ts";
import type { Rows, Snapshot } from "./snapshot.ts";
import { type BaseTx, ScopedTx } from "./scoped-tx.ts";
import type { Scope } from "../kernel/index.ts";
import type { ReadOptions, Tx, UnscopedTx } from "./transaction.ts";

export interface BufferedTxOptions {
  readonly now: number;
  readonly snapshot: Snapshot;
  readonly overlay: Overlay;
  /** What a new row's version begins with. */
  readonly firstVersion: () => number;
  /** The collection whose new rows are noted. */
  readonly noted?: Collection | undefined;
}

/** What is committed, under buffered writes. Commands see it within their scope (`ScopedTx`). */
export class BufferedTx implements BaseTx {
  readonly now: number;
  readonly #snapshot: Snapshot;
  readonly #overlay: Overlay;
  readonly #firstVersion: () => number;
  readonly #noted: Collection | undefined;
  readonly #insertions: object[] = [];
  #hasEnded = false;

  constructor({ now, snapshot, overlay, firstVersion, noted }: BufferedTxOptions) {
    this.now = now;
    this.#snapshot = snapshot;
    this.#overlay = overlay;
    this.#firstVersion = firstVersion;
    this.#noted = noted;
  }

  /** The rows of the noted collection that were inserted, in order. */
  get insertions(): readonly object[] {
    return this.#insertions;
  }

  /** The command has returned: nothing can be read or written from here on. */
  end(): void {
    this.#hasEnded = true;
  }

  in(scope: Scope): Tx {
    return new ScopedTx(this, scope);
  }

  get<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    return this.find(index, key, encodeKey(key), options);
  }

  /** `get` with the encoded key. */
  async find<R extends object>(
    index: UniqueIndex<R>,
    key: readonly KeyValue[],
    id: string,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    this.#begin();
    const { collection } = index;
    const primary = index === collection.primary;
    const touched = primary ? this.#overlay.find(collection, id) : undefined;
    if (touched !== undefined) return touched.row as Seen<R> | undefined;
    const lookup: Lookup =
      options?.claim === true ? { index, key, limit: 1, claim: true } : { index, key, limit: 1 };
    // Nothing that is buffered has this primary key, so there is nothing to lay over.
    const rows = primary ? this.#snapshot.read(lookup, id) : this.#rows(lookup, id);
    const [row] = rows instanceof Promise ? await rows : rows;
    this.#begin();
    if (row !== undefined && options?.hold === true) this.#hold(collection, row);
    return row as Seen<R> | undefined;
  }

  async list<R extends object>(
    index: Index<R>,
    key: readonly KeyValue[],
    limit: number,
  ): Promise<readonly Seen<R>[]> {
    this.#begin();
    return (await this.#rows(
      { index, key, limit },
      encodeKey(key),
    )) as readonly Seen<object>[] as readonly Seen<R>[];
  }

  insert<R extends object>(collection: Collection<R>, row: R): Seen<R> {
    return this.put(collection, { ...row, version: this.firstVersion() });
  }

  /** What a new row's version begins with. */
  firstVersion(): number {
    return this.#firstVersion();
  }

  /** `insert` of a row that has its first version and is nobody else's. */
  put<R extends object>(collection: Collection<R>, seen: Seen<R>): Seen<R> {
    this.#begin();
    const key = keyOf(collection, seen);
    const id = encodeKey(key);
    const touched = this.#overlay.find(collection, id);
    if (touched?.row !== undefined) {
      throw new StorageConflict(`a row of ${collection.name} has this key`);
    }
    const base = touched?.base;
    const next = base === undefined ? seen : patched(base, seen, {});
    this.#overlay.put(collection, id, {
      key,
      base,
      row: next,
      changed:
        base === undefined
          ? unchanged
          : new Set(Object.keys(seen).filter((each) => each !== "version")),
    });
    if (collection === this.#noted) this.#insertions.push(next);
    return next;
  }

  update<R extends object>(collection: Collection<R>, seen: Seen<R>, patch: Partial<R>): Seen<R> {
    this.#begin();
    const key = keyOf(collection, seen);
    const id = encodeKey(key);
    const touched = this.#latest(collection, id, seen);
    const base = touched === undefined ? seen : touched.base;
    const row = patched<R>(base, seen, patch);
    const changed = new Set([...(touched?.changed ?? unchanged), ...Object.keys(patch)]);
    this.#overlay.put(collection, id, { key, base, row, changed });
    return row;
  }

  remove<R extends object>(collection: Collection<R>, seen: Seen<R>): void {
    this.#begin();
    const key = keyOf(collection, seen);
    const id = encodeKey(key);
    const touched = this.#latest(collection, id, seen);
    const base = touched === undefined ? seen : touched.base;
    this.#overlay.put(collection, id, { key, base, row: undefined, changed: unchanged });
  }

  add<R extends object>(collection: Collection<R>, row: R): void {
    this.#begin();
    this.#overlay.add(collection, row as AnySeen);
  }

  async attempt<T>(work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    this.#begin();
    const mark = this.#overlay.mark();
    const insertions = this.#insertions.length;
    try {
      return await work(this);
    } catch (error) {
      this.#begin();
      this.#overlay.takeBack(mark);
      this.#insertions.length = insertions;
      throw error;
    }
  }

  /** What the storage has under a key, with the buffered writes laid over it. */
  #rows(lookup: Lookup, id: string): Rows | Promise<Rows> {
    const most = mostToRead(lookup, this.#overlay);
    const stored = this.#snapshot.read(
      most === lookup.limit ? lookup : { ...lookup, limit: most },
      id,
    );
    const overlaid = (rows: Rows): Rows => {
      this.#begin();
      return laidOver(rows, lookup, this.#overlay);
    };
    return stored instanceof Promise ? stored.then(overlaid) : overlaid(stored);
  }

  #hold(collection: Collection, row: AnySeen): void {
    const key = keyOf(collection, row);
    const id = encodeKey(key);
    if (this.#overlay.find(collection, id) !== undefined) return;
    this.#overlay.put(collection, id, { key, base: row, row, changed: unchanged });
  }

  #latest(collection: Collection, id: string, seen: object): Entry | undefined {
    const touched = this.#overlay.find(collection, id);
    if (touched !== undefined && touched.row !== seen) {
      throw new TypeError(
        `${collection.name}: write to an outdated form of a row; use what the last write answered`,
      );
    }
    return touched;
  }

  #begin(): void {
    if (this.#hasEnded) {
      throw new Error("The command has returned; its transaction can't be used any more.");
    }
  }
}

/** A row with a patch. Its version is that of the next write, however many patches there are; a new row's is the one that it began with. */
function patched<R extends object>(
  base: AnySeen | undefined,
  seen: Seen<R>,
  patch: Partial<R>,
): Seen<R> {
  return { ...seen, ...patch, version: base === undefined ? seen.version : base.version + 1 };
}
