/**
 * A storage in this process that behaves like a shared database over a network. Calls take time,
 * groups of different processes overlap, an exclusive group blocks the others' commits, and a
 * locked row is skipped by the others that ask for a lock. The test decides how long each call
 * takes, so that a seed always gives the same history. The storage behind it must read
 * synchronously.
 */
import {
  keyOf,
  type Access,
  type Collection,
  type Group,
  type Lookup,
  type Row,
  type StoragePort,
  type Write,
} from "../../../../src/ports/index.ts";
import { GroupState } from "./group-state.ts";
import type { Call } from "./port-calls.ts";

export interface ConnectionOptions {
  /**
   * Awaited at each stage of a call: on the way to the storage (`read`, `commit`) and on the way
   * back (`rows`, `outcome`). Default: no delay.
   */
  readonly delay?: (
    stage: "read" | "rows" | "commit" | "outcome",
    call: Pick<Call, "reads" | "writes">,
  ) => Promise<void>;
  /** Called at the moment of each commit. */
  readonly onCommit?: (writes: readonly Write[]) => void;
}

export interface Connection extends StoragePort {
  /** Ends all open groups, as a database does when a client is gone. */
  disconnect(): void;
}

/** Carries calls and their answers over the network. */
class Wire {
  readonly #delay: NonNullable<ConnectionOptions["delay"]>;

  constructor(delay: NonNullable<ConnectionOptions["delay"]>) {
    this.#delay = delay;
  }

  async read<T>(reads: NonNullable<Call["reads"]>, work: () => T | Promise<T>): Promise<T> {
    await this.#delay("read", { reads });
    const rows = await work();
    await this.#delay("rows", { reads });
    return rows;
  }

  async commit(writes: readonly Write[], work: () => void | Promise<void>): Promise<void> {
    await this.#delay("commit", { writes });
    await work();
    await this.#delay("outcome", { writes });
  }
}

export class SharedStorage {
  readonly #database: StoragePort;
  /** The group that blocks the others' commits. */
  #exclusive: GroupState | undefined;
  readonly #locks = new Map<string, GroupState>();
  readonly #listeners = new Set<() => void>();

  constructor(database: StoragePort) {
    this.#database = database;
  }

  /** Reads what is committed. No call is delayed. */
  get reader(): StoragePort["reader"] {
    return this.#database.reader;
  }

  yieldToEventLoop(): Promise<void> {
    return this.#database.yieldToEventLoop();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  connect({ delay = () => Promise.resolve(), onCommit }: ConnectionOptions = {}): Connection {
    const database = this.#database;
    const wire = new Wire(delay);
    const open = new Set<GroupState>();
    let last: GroupState | undefined;
    return {
      capabilities: { ...database.capabilities, synchronous: false },
      open: (schema) => database.open(schema),
      migrate: (schema) => database.migrate(schema),
      migrationSql: (schema, from) => database.migrationSql(schema, from),
      begin: (how = "shared") => {
        const group = new GroupState(last);
        last = group;
        open.add(group);
        const end = (): void => {
          open.delete(group);
          this.#end(group);
        };
        return {
          read: (lookups) =>
            wire.read(lookups, async () => {
              if (how === "exclusive") await this.#exclude(group);
              return this.#read(group, lookups);
            }),
          commit: (writes) =>
            wire.commit(writes, () => this.#commit(group, how, writes, onCommit).finally(end)),
          abort: end,
        };
      },
      reader: {
        get: (lookups) => wire.read(lookups, () => database.reader.get(lookups)),
        range: (range) => wire.read([range], () => database.reader.range(range)),
        search: (searches) => wire.read(searches, () => database.reader.search(searches)),
      },
      ...this.#hostMethods(wire),
      watch: (listener) => this.watch(listener),
      yieldToEventLoop: () => database.yieldToEventLoop(),
      close: () => Promise.resolve(),
      disconnect: () => {
        for (const group of open) this.#end(group);
        open.clear();
      },
    };
  }

  /** Calls `listener` after each commit. */
  watch(listener: () => void): () => void {
    // Wrapped, so that one function can be registered twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Transactions of the host application, if the storage has them. They block no other group. */
  #hostMethods(wire: Wire): Pick<StoragePort, "host" | "transaction" | "isInsideTransaction"> {
    const database = this.#database;
    if (!database.capabilities.hostTransactions) return {};
    return {
      host(handle): Group {
        const group = database.host?.(handle);
        if (group === undefined) throw new TypeError("the storage cannot join a transaction");
        return {
          read: (lookups) => wire.read(lookups, () => group.read(lookups)),
          commit: (writes) => wire.commit(writes, () => group.commit(writes)),
          abort: () => group.abort(),
        };
      },
      transaction: async (work) => {
        if (database.transaction === undefined) {
          throw new TypeError("the storage has no transactions");
        }
        const result = await database.transaction(work);
        this.#notify();
        return result;
      },
      isInsideTransaction: () => database.isInsideTransaction?.() ?? false,
    };
  }

  /** Calls the listeners in microtasks, as if another process had committed. */
  #notify(): void {
    for (const listener of this.#listeners) queueMicrotask(listener);
  }

  /** Reads what locks first. The other look-ups then see what was committed before the locks. */
  async #read(group: GroupState, lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    const locked = await Promise.all(
      lookups.map(async (lookup) => (lookup.lock === true ? this.#lock(group, lookup) : undefined)),
    );
    return lookups.map((lookup, i) => locked[i] ?? this.#stored(lookup));
  }

  async #lock(group: GroupState, lookup: Lookup): Promise<readonly Row[]> {
    await group.waitFor(() => group.before);
    const free = this.#stored({ ...lookup, limit: lookup.limit + this.#locks.size }).filter(
      (row) => {
        const holder = this.#locks.get(idOfRow(lookup, row));
        return holder === undefined || holder === group;
      },
    );
    const rows = free.slice(0, lookup.limit);
    for (const row of rows) if (!group.isOver) this.#locks.set(idOfRow(lookup, row), group);
    return rows;
  }

  /** The rows that are committed at this moment. */
  #stored(lookup: Lookup): readonly Row[] {
    const group = this.#database.begin();
    const found = group.read([lookup]);
    void group.abort();
    if (found instanceof Promise) throw new TypeError("the storage must read synchronously");
    return found[0] ?? [];
  }

  /** Waits until no other group runs exclusively, and makes this group the exclusive one. */
  async #exclude(group: GroupState): Promise<void> {
    const blocker = (): GroupState | undefined => group.before ?? this.#otherExclusive(group);
    while (!group.isOver && blocker() !== undefined) await group.waitFor(blocker);
    if (!group.isOver) this.#exclusive = group;
  }

  async #commit(
    group: GroupState,
    how: Access,
    writes: readonly Write[],
    onCommit: ConnectionOptions["onCommit"],
  ): Promise<void> {
    if (how === "exclusive") await this.#exclude(group);
    // The groups of one connection commit one at a time, in the order in which they began.
    const blocker = (): GroupState | undefined =>
      group.before ?? this.#otherExclusive(group) ?? this.#holderOf(group, writes);
    while (!group.isOver && blocker() !== undefined) await group.waitFor(blocker);
    if (group.isOver) throw new Error("the connection is gone");
    const committing = this.#database.begin().commit(writes);
    if (committing instanceof Promise) await committing;
    this.#notify();
    onCommit?.(writes);
  }

  #otherExclusive(group: GroupState): GroupState | undefined {
    return this.#exclusive === group ? undefined : this.#exclusive;
  }

  /** Another group that has locked one of the rows. */
  #holderOf(group: GroupState, writes: readonly Write[]): GroupState | undefined {
    return writes
      .map((write) => this.#locks.get(idOfWrite(write)))
      .find((holder) => holder !== undefined && holder !== group);
  }

  #end(group: GroupState): void {
    if (this.#exclusive === group) this.#exclusive = undefined;
    for (const [id, holder] of this.#locks) if (holder === group) this.#locks.delete(id);
    group.end();
  }
}

function idOf(collection: Collection, key: readonly unknown[]): string {
  return `${collection.name} ${JSON.stringify(key)}`;
}

function idOfRow({ index: { collection } }: Lookup, row: Row): string {
  return idOf(collection, keyOf(collection, row));
}

function idOfWrite(write: Write): string {
  return idOf(write.collection, "key" in write ? write.key : keyOf(write.collection, write.row));
}
