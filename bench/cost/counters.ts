/** Counts what an engine asks of its storage, and the promises that it creates. */
import { createHook } from "node:async_hooks";
import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import {
  keyOf,
  type Collection,
  type Index,
  type KeyValue,
  type Row,
} from "../../src/ports/index.ts";
import type { Group, StoragePort, Write } from "../../src/ports/storage.ts";
import { placeIn } from "../../src/store/reads/index-order.ts";
import { Store } from "../../src/store/store.ts";

/** Sums by name. Names of rows that were written begin with `row `. */
export class Counts {
  readonly sums = new Map<string, number>();
  add(name: string, by = 1): void {
    this.sums.set(name, (this.sums.get(name) ?? 0) + by);
  }
}

/** The storage, with its groups and reads counted. */
export function counted(port: StoragePort, counts: Counts): StoragePort {
  const countRows = <T extends readonly (readonly unknown[])[]>(rows: T): T => {
    counts.add("reads", rows.length);
    return rows;
  };
  const rows = new Map<string, Row>();
  const reader: StoragePort["reader"] = {
    get: async (lookups) => countRows(await port.reader.get(lookups)),
    range: async (range) => countRows([await port.reader.range(range)])[0] ?? [],
    search: (searches) => port.reader.search(searches),
  };
  const begin: StoragePort["begin"] = (how) => {
    const group: Group = port.begin(how);
    return {
      read(lookups) {
        const rows = group.read(lookups);
        return rows instanceof Promise ? rows.then(countRows) : countRows(rows);
      },
      commit(writes) {
        counts.add("commits");
        for (const write of writes) countWrite(write, rows, counts);
        return group.commit(writes);
      },
      abort: () => group.abort(),
    };
  };
  return new Proxy(port, {
    get(target, name) {
      if (name === "reader") return reader;
      if (name === "begin") return begin;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Counts a write. `rows` has the rows as they were last written, by their keys. */
function countWrite(write: Write, rows: Map<string, Row>, counts: Counts): void {
  if (write.kind === "hold") {
    counts.add("held rows");
    return;
  }
  const { collection } = write;
  counts.add("rows written");
  counts.add(`row ${collection.name}`);
  const after = "row" in write ? write.row : undefined;
  const key = "row" in write ? keyOf(collection, write.row) : write.key;
  const name = `${collection.name} ${JSON.stringify(key)}`;
  counts.add("index entries", changedEntries(collection, rows.get(name), after));
  if (after === undefined) rows.delete(name);
  else rows.set(name, after);
}

/** In how many indexes the entry of a row is inserted, moved or removed. */
function changedEntries(
  { primary, indexes }: Collection,
  before: Row | undefined,
  after: Row | undefined,
): number {
  const place = (index: Index, row: Row | undefined): readonly KeyValue[] | undefined =>
    row && placeIn(index, index.columns.length, row);
  const all = [...new Set([primary, ...indexes])];
  return all.filter((index) => !isDeepStrictEqual(place(index, before), place(index, after)))
    .length;
}

/** Counts transactions, and statements sent to PostgreSQL, while `work` runs. */
export async function countCalls(counts: Counts, work: () => Promise<void>): Promise<void> {
  const restore = [
    counting(Store.prototype, "commitUnscoped", () => counts.add("transactions")),
    countStatements(() => counts.add("statements")),
  ];
  try {
    await work();
  } finally {
    for (const each of restore) each();
  }
}

/** Calls `count` for each statement that this process sends to PostgreSQL. Returns how to stop. */
export function countStatements(count: () => void): () => void {
  return counting(pg.Connection.prototype, "bind", count);
}

function counting<T extends object>(of: T, method: keyof T, count: () => void): () => void {
  const original: unknown = of[method];
  if (typeof original !== "function") throw new TypeError(`no method ${String(method)}`);
  const counter = function (this: unknown, ...args: readonly unknown[]): unknown {
    count();
    return Reflect.apply(original, this, args);
  };
  Object.assign(of, { [method]: counter });
  return () => void Object.assign(of, { [method]: original });
}

/** Counts the promises that are created while `work` runs. It then takes several times as long. */
export async function countPromises(counts: Counts, work: () => Promise<void>): Promise<void> {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") promises++;
    },
  });
  hook.enable();
  await work();
  hook.disable();
  counts.add("promises", promises);
}
