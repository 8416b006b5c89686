import { getOrInsert } from "../../kernel/index.ts";
import {
  keyOf,
  StorageConflict,
  type Collection,
  type Index,
  type KeyValue,
  type Lookup,
  type Row,
  type Write,
} from "../../ports/index.ts";
import { byIndex, matches } from "../reads/index-order.ts";
import { KeyMap } from "./key-map.ts";
import { orderUpdates, type PlannedUpdate } from "./order-updates.ts";
import {
  isWritten,
  noEntries,
  TouchedRows,
  type Change,
  type Entry,
  type VersionedRow,
} from "./touched-rows.ts";

/** The numbers of writes so far. Later writes can be rolled back. */
export interface Mark {
  readonly changes: number;
  readonly added: number;
}

/** A row that is added to the counter with its primary key. */
interface Addition {
  readonly collection: Collection;
  readonly row: Row;
}

/** The buffered writes of one command or of a group of commands. */
export class Overlay {
  readonly #touched = new Map<Collection, TouchedRows>();
  readonly #added: Addition[] = [];
  /** The changes of entries, in their order. */
  readonly #journal: Change[] = [];

  /** Returns the entry of a row, or undefined if nothing touched the row. */
  find(collection: Collection, key: readonly KeyValue[]): Entry | undefined {
    return this.#touched.get(collection)?.find(key);
  }

  /** Whether any row of a collection was touched. */
  touches(collection: Collection): boolean {
    return this.#touched.has(collection);
  }

  /** Returns the entries whose row has this key in an index, or had it before it was written. */
  under(index: Index, key: readonly KeyValue[]): readonly Entry[] {
    return this.#touched.get(index.collection)?.under(index, key) ?? noEntries;
  }

  /** Returns the entries of the rows of a collection that were written. */
  written(collection: Collection): readonly Entry[] {
    return this.#touched.get(collection)?.written() ?? noEntries;
  }

  /**
   * Yields the entries of all rows that were written or held. `merge` and `writes` are called for
   * each group, so they have loops of their own: a generator takes several times as long.
   */
  *entries(): Generator<readonly [Collection, Entry]> {
    for (const [collection, { rows }] of this.#touched) {
      for (const { entry } of rows) if (entry !== undefined) yield [collection, entry];
    }
  }

  /** Sets the entry of a row to the one that `next` returns for the entry that it had. */
  change(
    collection: Collection,
    key: readonly KeyValue[],
    next: (before: Entry | undefined) => Entry,
  ): void {
    const touched = getOrInsert(this.#touched, collection, newTouchedRows);
    this.#journal.push(touched.change(key, next));
  }

  put(collection: Collection, entry: Entry): void {
    this.change(collection, entry.key, () => entry);
  }

  /** Adds the values of `row` to the counter under its primary key. */
  add(collection: Collection, row: Row): void {
    this.#added.push({ collection, row });
  }

  mark(): Mark {
    return { changes: this.#journal.length, added: this.#added.length };
  }

  /** Undoes the writes after a mark. */
  rollBack({ changes, added }: Mark): void {
    for (const change of this.#journal.splice(changes).toReversed()) change.rows.undo(change);
    this.#added.length = added;
  }

  /**
   * Adds the writes of another overlay, whose transaction has not read this one's writes. Returns
   * false and adds nothing if this overlay wrote a row that the other one touched, or if they read
   * different versions of a row.
   */
  merge(other: Overlay): boolean {
    for (const [collection, { rows }] of other.#touched) {
      for (const { entry } of rows) {
        const own = entry && this.find(collection, entry.key);
        // A row that this overlay only holds may be held or written by the other, at the same
        // version.
        if (own !== undefined && (isWritten(own) || own.base?.version !== entry?.base?.version)) {
          return false;
        }
      }
    }
    for (const [collection, { rows }] of other.#touched) {
      for (const { entry } of rows) if (entry !== undefined) this.put(collection, entry);
    }
    this.#added.push(...other.#added);
    return true;
  }

  /** Whether the buffered writes may change the result of a lookup. */
  writesUnder({ index, key }: Lookup): boolean {
    return this.under(index, key).some(isWritten);
  }

  /**
   * Returns one write for each row. Writes that free a unique key come before those that take it.
   */
  writes(): Write[] {
    const planned: PlannedWrites = { removals: [], holds: [], updates: [], insertions: [] };
    for (const [collection, { rows }] of this.#touched) {
      for (const { entry } of rows) if (entry !== undefined) planWrite(planned, collection, entry);
    }
    const { removals, holds, updates, insertions } = planned;
    return [
      ...removals,
      ...holds,
      ...orderUpdates(updates).map(({ write }) => write),
      ...insertions,
      ...this.#additions(),
    ];
  }

  /** Returns one write for each counter. */
  #additions(): Write[] {
    const counters = new Map<Collection, KeyMap<Row[]>>();
    for (const { collection, row } of this.#added) {
      const byKey = getOrInsert(counters, collection, () => new KeyMap());
      byKey.getOrInsert(keyOf(collection, row), () => []).push(row);
    }
    return [...counters].flatMap(([collection, byKey]) =>
      byKey.values().map((rows) => ({ kind: "add", collection, row: sumOf(collection, rows) })),
    );
  }
}

interface PlannedWrites {
  readonly removals: Write[];
  readonly holds: Write[];
  readonly updates: PlannedUpdate[];
  readonly insertions: Write[];
}

/** Adds the write of a row, if there is one: a new row that was removed again has none. */
function planWrite(
  { removals, holds, updates, insertions }: PlannedWrites,
  collection: Collection,
  { key, base, row, changed }: Entry,
): void {
  if (base === undefined) {
    if (row !== undefined) insertions.push({ kind: "insert", collection, row });
    return;
  }
  const { version } = base;
  if (row === undefined) removals.push({ kind: "remove", collection, key, version });
  else if (row === base) holds.push({ kind: "hold", collection, key, version });
  else {
    const write = { kind: "update", collection, key, version, row, changed } as const;
    updates.push({ write, base });
  }
}

/** Returns how many stored rows a lookup must read, so that enough remain after `withOverlay`. */
export function rowsToRead({ index, key, limit }: Lookup, overlay: Overlay): number {
  // A full unique key has at most one row.
  return limit === 1 && index.unique && key.length === index.columns.length
    ? 1
    : limit + overlay.under(index, key).length;
}

/**
 * Applies the buffered writes to the stored rows of a lookup.
 * @throws StorageConflict when too few rows were read to determine the result
 */
export function withOverlay(
  stored: readonly VersionedRow[],
  lookup: Lookup,
  overlay: Overlay,
): readonly VersionedRow[] {
  const { index, key, limit } = lookup;
  const { collection } = index;
  if (!overlay.touches(collection)) return stored;
  const entries = overlay.under(index, key);
  if (stored.length === 0 && entries.length === 0) return stored;
  // Drops rows that the overlay has too, since its version of a row is the one to return.
  const rows = stored.filter(
    (row) => overlay.find(collection, keyOf(collection, row)) === undefined,
  );
  // Another process moved a row here after the overlay read it under another key. The row that
  // would replace it in the result was not read.
  if (rows.length < limit && stored.length >= limit + entries.length) {
    throw new StorageConflict(`${collection.name}: a row changed its key between two reads`);
  }
  for (const { row } of entries) {
    if (row !== undefined && matches(index, key, row)) rows.push(row);
  }
  if (entries.length === 0) return rows;
  const compare = byIndex(index);
  const sorted = rows.toSorted(lookup.order === "descending" ? (a, b) => compare(b, a) : compare);
  return sorted.slice(0, limit);
}

const newTouchedRows = (): TouchedRows => new TouchedRows();

/** Returns the sum of rows with the same primary key. */
function sumOf(collection: Collection, rows: readonly Row[]): Row {
  const sum: Record<string, unknown> = { ...rows[0] };
  const amounts = Object.keys(sum).filter((each) => !collection.primary.columns.includes(each));
  for (const row of rows.slice(1)) {
    for (const column of amounts) sum[column] = Number(sum[column]) + Number(row[column]);
  }
  return sum;
}
