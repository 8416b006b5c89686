import { type Collection, type Index, keyOf, type KeyValue, type Seen } from "../ports/collection.ts";
import type { Row, Write } from "../ports/storage.ts";

/** A row of the engine's, of whatever collection. */
export type AnySeen = Row & { readonly version: number };

/** What a transaction knows of one row: what the storage has (`base`) and what it shall have (`row`). */
interface Entry {
  readonly key: readonly KeyValue[];
  readonly base: AnySeen | undefined;
  readonly row: AnySeen | undefined;
  /** Columns that were written since `base`. */
  readonly changed: ReadonlySet<string>;
}

/**
 * Buffered writes, in layers: one for the group, above it one for each command, above that one for each attempt. A layer sees
 * through to those below it, and is merged down when its work succeeded or dropped when it failed.
 */
export class Overlay {
  readonly #below: Overlay | undefined;
  readonly #entries = new Map<Collection, Map<string, Entry>>();
  readonly #sums = new Map<Collection, Map<string, Row>>();

  constructor(below?: Overlay) {
    this.#below = below;
  }

  /** What this transaction made of the row; `undefined` when it has not touched it. */
  find(collection: Collection, key: string): Entry | undefined {
    return this.#entries.get(collection)?.get(key) ?? this.#below?.find(collection, key);
  }

  /** Every touched row of a collection, the upmost layer's form of it. */
  touched(collection: Collection): ReadonlyMap<string, Entry> {
    const own = this.#entries.get(collection);
    const below = this.#below?.touched(collection);
    if (below === undefined || below.size === 0) return own ?? none;
    return own === undefined ? below : new Map([...below, ...own]);
  }

  put(collection: Collection, id: string, entry: Entry): void {
    let entries = this.#entries.get(collection);
    if (entries === undefined) this.#entries.set(collection, (entries = new Map<string, Entry>()));
    entries.set(id, entry);
  }

  add(collection: Collection, row: Row): void {
    let sums = this.#sums.get(collection);
    if (sums === undefined) this.#sums.set(collection, (sums = new Map<string, Row>()));
    const id = encodeKey(keyOf(collection, row));
    const sum = sums.get(id);
    sums.set(id, sum === undefined ? row : plus(collection, sum, row));
  }

  /** Makes this layer's writes the layer's below. Ends this one: what it has becomes the other's. */
  mergeInto(below: Overlay): void {
    for (const [collection, entries] of this.#entries) {
      if (!below.#entries.has(collection)) below.#entries.set(collection, entries);
      else for (const [id, entry] of entries) below.put(collection, id, entry);
    }
    for (const [collection, sums] of this.#sums) {
      if (!below.#sums.has(collection)) below.#sums.set(collection, sums);
      else for (const row of sums.values()) below.add(collection, row);
    }
  }

  /**
   * One write for each row. What frees a unique key comes before what takes it: removals, updates, insertions.
   */
  writes(): Write[] {
    const removals: Write[] = [];
    const updates: Write[] = [];
    const insertions: Write[] = [];
    for (const [collection, entries] of this.#entries) {
      for (const { key, base, row, changed } of entries.values()) {
        if (base === undefined) {
          if (row !== undefined) insertions.push({ kind: "insert", collection, row });
        } else if (row === undefined) {
          removals.push({ kind: "remove", collection, key, version: base.version });
        } else if (row === base) {
          updates.push({ kind: "hold", collection, key, version: base.version });
        } else {
          updates.push({ kind: "update", collection, key, version: base.version, row, changed: [...changed] });
        }
      }
    }
    for (const [collection, sums] of this.#sums) {
      for (const row of sums.values()) insertions.push({ kind: "add", collection, row });
    }
    return [...removals, ...updates, ...insertions];
  }
}

const none: ReadonlyMap<string, Entry> = new Map();

export const unchanged: ReadonlySet<string> = new Set();

/** A key as one string; lengths keep ["a", "bc"] and ["ab", "c"] apart. */
export function encodeKey(key: readonly KeyValue[]): string {
  let encoded = "";
  for (const part of key) encoded += typeof part === "string" ? `${part.length}:${part}` : `#${String(part)};`;
  return encoded;
}

/** Whether a row stands in an index under (a prefix of) a key. */
export function matches(index: Index, key: readonly KeyValue[], row: Row): boolean {
  for (let i = 0; i < key.length; i++) {
    if (row[index.columns[i] ?? ""] !== key[i]) return false;
  }
  const { where } = index;
  if (where === undefined) return true;
  const value = row[where.column];
  return "in" in where ? typeof value === "string" && where.in.includes(value) : value !== null;
}

/** The order of an index: its columns, then the primary key's. */
export function byIndex(index: Index): (a: Row, b: Row) => number {
  const columns = [...index.columns, ...index.collection.primary.columns];
  return (a, b) => {
    for (const column of columns) {
      const order = compare(a[column], b[column]);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Absent first, then by value: what the storages do too. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  return Number(a) - Number(b);
}

/** By code point, which UTF-16 is not: half of a pair sorts below what follows the surrogates. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd8_00 && unit <= 0xdf_ff;

function plus(collection: Collection, sum: Row, row: Row): Row {
  const total: Record<string, unknown> = { ...sum };
  for (const column of Object.keys(row)) {
    if (!collection.primary.columns.includes(column)) total[column] = Number(sum[column]) + Number(row[column]);
  }
  return total;
}

/** A row with a patch. Its version is that of the next write, however many patches there are. */
export function patched<R extends object>(
  base: { readonly version: number } | undefined,
  seen: R,
  patch: Partial<R>,
): Seen<R> {
  return { ...seen, ...patch, version: (base?.version ?? 0) + 1 };
}
