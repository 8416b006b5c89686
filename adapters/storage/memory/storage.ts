import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/kernel/index.ts";
import {
  columnsOf,
  type Collection,
  type EngineLocks,
  type Group,
  type Lookup,
  type Range,
  type Row,
  type Schema,
  type Search,
  type StoragePort,
  type Write,
} from "../../../src/ports/index.ts";
import { CommitListeners } from "../commit-listeners.ts";
import { refuseNewer } from "../schema-versions.ts";
import { Table, type Undo } from "./table.ts";

/** The storage that `memory()` returns. */
export class MemoryStorage implements StoragePort<undefined> {
  readonly capabilities = {
    durable: false,
    shared: true,
    hostTransactions: false,
    transactions: 0,
    synchronous: true,
  } as const;
  readonly #listeners = new CommitListeners();
  readonly #locks = new Set<string>();
  #lastLock = 0;
  #tables = new Map<string, Table>();
  #version = 0;
  #position = 0;

  readonly reader = {
    get: async (lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> =>
      this.#read(lookups),
    range: async (range: Range): Promise<readonly Row[]> =>
      this.#table(range.index.collection.name).range(range),
    search: async (searches: readonly Search[]): Promise<readonly (readonly Row[])[]> =>
      searches.map((search) => this.#table(search.index.collection.name).search(search)),
  };

  readonly engineLocks: EngineLocks = {
    graceMs: 0,
    take: async () => {
      const id = String(++this.#lastLock);
      this.#locks.add(id);
      return {
        id,
        isHeld: () => this.#locks.has(id),
        release: async () => void this.#locks.delete(id),
      };
    },
    findFree: async (ids) => ids.filter((id) => !this.#locks.has(id)),
  };

  async open(schema: Schema): Promise<void> {
    await this.migrate(schema);
  }

  async migrate(schema: Schema): Promise<void> {
    refuseNewer(this.#version, schema);
    if (schema.version === this.#version) return;
    const tables = new Map<string, Table>();
    for (const collection of schema.collections) {
      const table = new Table(collection);
      const fills = fillsSince(this.#version, collection);
      for (const row of this.#tables.get(collection.name)?.all() ?? []) {
        table.restore({ ...row, ...fills });
      }
      tables.set(collection.name, table);
    }
    this.#tables = tables;
    this.#version = schema.version;
  }

  migrationSql(): string {
    return "";
  }

  begin(): Group {
    return {
      read: (lookups) => this.#read(lookups),
      commit: (writes) => this.#commit(writes),
      abort() {},
    };
  }

  watch(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
  }

  async close(): Promise<void> {}

  #read(lookups: readonly Lookup[]): Row[][] {
    return lookups.map((lookup) => this.#table(lookup.index.collection.name).get(lookup));
  }

  #commit(writes: readonly Write[]): void {
    const before = this.#position;
    const undos: Undo[] = [];
    try {
      for (const write of writes) {
        undos.push(this.#table(write.collection.name).apply(write, () => ++this.#position));
      }
    } catch (error) {
      for (const undo of undos.toReversed()) undo();
      this.#position = before;
      throw error;
    }
    this.#listeners.callSoon();
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) {
      const message = `The storage is not open, or its schema has no collection "${name}".`;
      throw new TidingsError("storage_unavailable", message);
    }
    return table;
  }
}

/** Returns the values that the columns added since a version of the schema have in older rows. */
function fillsSince(version: number, collection: Collection): Row {
  const added = columnsOf(collection).filter(([, { since }]) => since > version);
  return Object.fromEntries(
    added.map(([name, { type, fill = null }]) => [
      name,
      type === "json" && typeof fill === "string" ? (JSON.parse(fill) as unknown) : fill,
    ]),
  );
}
