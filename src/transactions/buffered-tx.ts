import { type Collection, type Index, keyOf, type KeyValue, type Seen, type UniqueIndex } from "../ports/collection.ts";
import { type Lookup, StorageConflict } from "../ports/storage.ts";
import { type AnySeen, byIndex, encodeKey, matches, Overlay, patched, unchanged } from "./overlay.ts";
import type { ReadOptions, Tx } from "./transaction.ts";

/** Where a transaction reads what is committed. One for a group: what one command read, the others need not. */
export interface Snapshot {
  /** At once where the storage reads at once: a promise for each read would cost more than most reads. */
  read(lookup: Lookup): Rows | Promise<Rows>;
}

type Rows = readonly AnySeen[];

/** The transaction that commands see, over a layer of buffered writes. */
export class BufferedTx implements Tx {
  readonly now: number;
  readonly #snapshot: Snapshot;
  readonly #overlay: Overlay;
  #over: Error | undefined;

  constructor(now: number, snapshot: Snapshot, overlay: Overlay) {
    this.now = now;
    this.#snapshot = snapshot;
    this.#overlay = overlay;
  }

  /** Nothing can be read or written from here on; a body that still tries is told why. */
  end(why: Error): void {
    this.#over = why;
  }

  async get<R extends object, K extends readonly KeyValue[]>(
    index: UniqueIndex<R, K>,
    key: K,
    options?: ReadOptions,
  ): Promise<Seen<R> | undefined> {
    this.#begin();
    const { collection } = index;
    const primary = index === collection.primary;
    const touched = primary ? this.#overlay.find(collection, encodeKey(key)) : undefined;
    if (touched !== undefined) return touched.row as Seen<R> | undefined;
    // Nothing that is buffered has this primary key, so there is nothing to lay over.
    const rows = primary ? this.#snapshot.read({ index, key, limit: 1 }) : this.#rows(index, key, 1);
    const [row] = rows instanceof Promise ? await rows : rows;
    this.#begin();
    if (row !== undefined && options?.hold === true) this.#hold(collection, row);
    return row as Seen<R> | undefined;
  }

  async list<R extends object>(index: Index<R>, key: readonly KeyValue[], limit: number): Promise<readonly Seen<R>[]> {
    this.#begin();
    return (await this.#rows(index, key, limit)) as readonly Seen<object>[] as readonly Seen<R>[];
  }

  insert<R extends object>(collection: Collection<R>, row: R): Seen<R> {
    this.#begin();
    const seen = { ...row, version: 1 } as Seen<R>;
    const key = keyOf(collection, seen);
    const id = encodeKey(key);
    const touched = this.#overlay.find(collection, id);
    if (touched?.row !== undefined) throw new StorageConflict(`a row of ${collection.name} has this key`);
    const base = touched?.base;
    const next = base === undefined ? seen : patched(base, row, {});
    this.#overlay.put(collection, id, {
      key,
      base,
      row: next,
      changed: base === undefined ? unchanged : new Set(Object.keys(row)),
    });
    return next;
  }

  update<R extends object>(collection: Collection<R>, seen: Seen<R>, patch: Partial<R>): Seen<R> {
    this.#begin();
    const key = keyOf(collection, seen);
    const id = encodeKey(key);
    const touched = this.#latest(collection, id, seen);
    const base = touched === undefined ? seen : touched.base;
    const row = patched<Seen<R>>(base, seen, patch as Partial<Seen<R>>);
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

  async attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#begin();
    const overlay = new Overlay(this.#overlay);
    const tx = new BufferedTx(this.now, this.#snapshot, overlay);
    try {
      const value = await work(tx);
      this.#begin();
      overlay.mergeInto(this.#overlay);
      return value;
    } finally {
      tx.end(new Error("The attempt is over; its transaction can't be used any more."));
    }
  }

  /** What the storage has under a key, with the buffered writes laid over it. */
  #rows(index: Index, key: readonly KeyValue[], limit: number): Rows | Promise<Rows> {
    const touched = this.#overlay.touched(index.collection);
    // Buffered writes can take rows out of a list, so as many more are read; under a unique key there is one at most.
    const most = limit === 1 && index.unique ? 1 : limit + touched.size;
    const overlaid = (stored: Rows): Rows => {
      this.#begin();
      return touched.size === 0 ? stored : laidOver(stored, touched, { index, key, limit });
    };
    const stored = this.#snapshot.read({ index, key, limit: most });
    return stored instanceof Promise ? stored.then(overlaid) : overlaid(stored);
  }

  #hold(collection: Collection, row: AnySeen): void {
    const key = keyOf(collection, row);
    const id = encodeKey(key);
    if (this.#overlay.find(collection, id) !== undefined) return;
    this.#overlay.put(collection, id, { key, base: row, row, changed: unchanged });
  }

  #latest(collection: Collection, id: string, seen: object): ReturnType<Overlay["find"]> {
    const touched = this.#overlay.find(collection, id);
    if (touched !== undefined && touched.row !== seen) {
      throw new TypeError(`${collection.name}: write to an outdated form of a row; use what the last write answered`);
    }
    return touched;
  }

  #begin(): void {
    if (this.#over !== undefined) throw this.#over;
  }
}

/** The rows of a look-up as they are after the writes that are buffered. */
function laidOver(stored: Rows, touched: ReturnType<Overlay["touched"]>, { index, key, limit }: Lookup): Rows {
  const rows = stored.filter((row) => !touched.has(encodeKey(keyOf(index.collection, row))));
  for (const { row } of touched.values()) {
    if (row !== undefined && matches(index, key, row)) rows.push(row);
  }
  return rows.length > 1 ? rows.toSorted(byIndex(index)).slice(0, limit) : rows;
}
