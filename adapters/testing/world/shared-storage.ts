/**
 * A storage in this process that behaves like a shared database over a network. Calls take time,
 * groups of different processes overlap, an exclusive group blocks the others' commits, and a
 * locked row is skipped by the others that ask for a lock. The test decides how long each call
 * takes, so that a seed always gives the same history. The storage behind it must read
 * synchronously.
 */
import {
  type Access,
  type Collection,
  type Group,
  keyOf,
  type Lookup,
  type Row,
  StorageConflict,
  type StoragePort,
  type Write,
} from "../../../src/ports/index.ts";
import type { Call } from "./port-calls.ts";

export interface ConnectionOptions {
  /**
   * Awaited before each part of a call: the way to the storage (`read`, `commit`) and the way back
   * (`rows`, `outcome`). Resolve at once for no delay.
   */
  readonly onTheWay: (
    what: "read" | "rows" | "commit" | "outcome",
    call: Pick<Call, "reads" | "writes">,
  ) => Promise<void>;
  /** Called at the moment of each commit. */
  readonly onCommit?: (writes: readonly Write[]) => void;
}

/** Carries a call and its answer over the network. */
type Delay = <T>(reads: NonNullable<Call["reads"]>, work: () => T | Promise<T>) => Promise<T>;

export interface Connection extends StoragePort {
  /** Ends all open groups, as a database does when a client is gone. */
  disconnect(): void;
}

export class SharedStorage {
  readonly #database: StoragePort;
  /** The group that blocks the others' commits. */
  #exclusive: Session | undefined;
  readonly #locks = new Map<string, Session>();
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

  connect({ onTheWay, onCommit }: ConnectionOptions): Connection {
    const database = this.#database;
    let last: Session | undefined;
    const open = new Set<Session>();
    const delayed: Delay = async (reads, work) => {
      await onTheWay("read", { reads });
      const rows = await work();
      await onTheWay("rows", { reads });
      return rows;
    };
    return {
      capabilities: { ...database.capabilities, synchronous: false },
      open: (schema) => database.open(schema),
      migrate: (schema) => database.migrate(schema),
      migrationSql: (schema, from) => database.migrationSql(schema, from),
      begin: (how = "shared"): Group => {
        const session = new Session(last);
        last = session;
        open.add(session);
        const end = (): void => {
          open.delete(session);
          this.#end(session);
        };
        return {
          read: (lookups) =>
            delayed(lookups, async () => {
              if (how === "exclusive") await this.#exclude(session);
              return this.#read(session, lookups);
            }),
          commit: async (writes) => {
            await onTheWay("commit", { writes });
            try {
              await this.#commit(session, how, writes, onCommit);
            } finally {
              end();
            }
            await onTheWay("outcome", { writes });
          },
          abort: end,
        };
      },
      reader: {
        get: (lookups) => delayed(lookups, () => database.reader.get(lookups)),
        range: (range) => delayed([range], () => database.reader.range(range)),
        search: (searches) => delayed(searches, () => database.reader.search(searches)),
      },
      ...this.#hosts(delayed, onTheWay),
      watch: (listener) => this.watch(listener),
      yieldToEventLoop: () => database.yieldToEventLoop(),
      close: () => Promise.resolve(),
      disconnect: () => {
        for (const session of open) this.#end(session);
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
  #hosts(
    delayed: Delay,
    onTheWay: ConnectionOptions["onTheWay"],
  ): Pick<StoragePort, "host" | "transaction" | "isInsideTransaction"> {
    const database = this.#database;
    if (!database.capabilities.hostTransactions) return {};
    return {
      host(handle): Group {
        const group = database.host?.(handle);
        if (group === undefined) throw new TypeError("the storage cannot join a transaction");
        return {
          read: (lookups) => delayed(lookups, () => group.read(lookups)),
          commit: async (writes) => {
            await onTheWay("commit", { writes });
            await group.commit(writes);
            await onTheWay("outcome", { writes });
          },
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
  async #read(session: Session, lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    const locked = await Promise.all(
      lookups.map(async (lookup) =>
        lookup.lock === true ? this.#lock(session, lookup) : undefined,
      ),
    );
    return lookups.map((lookup, i) => locked[i] ?? this.#stored(lookup));
  }

  async #lock(session: Session, lookup: Lookup): Promise<readonly Row[]> {
    await session.waitFor(() => session.before);
    const free = this.#stored({ ...lookup, limit: lookup.limit + this.#locks.size }).filter(
      (row) => {
        const holder = this.#locks.get(idOfRow(lookup, row));
        return holder === undefined || holder === session;
      },
    );
    const rows = free.slice(0, lookup.limit);
    for (const row of rows) if (!session.isOver) this.#locks.set(idOfRow(lookup, row), session);
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
  async #exclude(session: Session): Promise<void> {
    const blocker = (): Session | undefined => session.before ?? this.#otherExclusive(session);
    while (!session.isOver && blocker() !== undefined) await session.waitFor(blocker);
    if (!session.isOver) this.#exclusive = session;
  }

  async #commit(
    session: Session,
    how: Access,
    writes: readonly Write[],
    onCommit: ConnectionOptions["onCommit"],
  ): Promise<void> {
    if (how === "exclusive") await this.#exclude(session);
    // The groups of one connection commit one at a time, in the order in which they began.
    const blocker = (): Session | undefined =>
      session.before ?? this.#otherExclusive(session) ?? this.#holderOf(session, writes);
    while (!session.isOver && blocker() !== undefined) await session.waitFor(blocker);
    if (session.isOver) throw new Error("the connection is gone");
    const committing = this.#database.begin().commit(writes);
    if (committing instanceof Promise) await committing;
    this.#notify();
    onCommit?.(writes);
  }

  #otherExclusive(session: Session): Session | undefined {
    return this.#exclusive === session ? undefined : this.#exclusive;
  }

  /** Another group that has locked one of the rows. */
  #holderOf(session: Session, writes: readonly Write[]): Session | undefined {
    return writes
      .map((write) => this.#locks.get(idOfWrite(write)))
      .find((holder) => holder !== undefined && holder !== session);
  }

  #end(session: Session): void {
    if (this.#exclusive === session) this.#exclusive = undefined;
    for (const [id, holder] of this.#locks) if (holder === session) this.#locks.delete(id);
    session.end();
  }
}

/** The server's side of a group. */
class Session {
  #before: Session | undefined;
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #over = false;
  #waitsFor: Session | undefined;

  constructor(last: Session | undefined) {
    // Skips a predecessor that has ended, so that ended sessions can be garbage-collected.
    this.#before = last?.isOver === true ? last.before : last;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The previous group on the same connection that has not ended. */
  get before(): Session | undefined {
    while (this.#before?.isOver === true) this.#before = this.#before.#before;
    return this.#before;
  }

  get isOver(): boolean {
    return this.#over;
  }

  end(): void {
    this.#over = true;
    this.#end();
  }

  /**
   * Waits until nothing blocks this group. Something else may block it by the time the caller goes
   * on. Throws a conflict if the blocker waits for this group, as a database does on a deadlock.
   */
  async waitFor(blocker: () => Session | undefined): Promise<void> {
    for (let other = blocker(); other !== undefined && !this.#over; other = blocker()) {
      for (let next: Session | undefined = other; next !== undefined; next = next.#waitsFor) {
        if (next === this) throw new StorageConflict("two groups wait for each other");
      }
      this.#waitsFor = other;
      await other.#ended;
      this.#waitsFor = undefined;
    }
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
