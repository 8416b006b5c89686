/**
 * A storage in memory as several processes have it over a network: answers come later than they were asked for, groups of different
 * processes meet, one that is exclusive keeps the others' commits out, and rows that one claimed the others don't get. When each thing
 * happens is for the test to say, so one seed can have one history.
 */
import { type Collection, keyOf } from "../../src/ports/collection.ts";
import {
  type Access,
  type Group,
  type Lookup,
  type Row,
  StorageConflict,
  type StoragePort,
  type Write,
} from "../../src/ports/storage.ts";

export interface ConnectionOptions {
  /** Each ends when the other side gets to it; by default at once, though in a later microtask. */
  readonly onTheWay: (what: "read" | "rows" | "commit" | "outcome") => Promise<void>;
  /** Told in the moment in which something is committed. */
  readonly landed?: (writes: readonly Write[]) => void;
}

export interface Connection extends StoragePort {
  /** What is open ends without a trace, as a server does with whoever is gone. */
  disconnect(): void;
}

export class LateStorage {
  readonly #ground: StoragePort;
  /** The group that keeps the others' commits out. */
  #exclusive: Session | undefined;
  readonly #claims = new Map<string, Session>();

  constructor(ground: StoragePort) {
    this.#ground = ground;
  }

  connect({ onTheWay, landed }: ConnectionOptions): Connection {
    const ground = this.#ground;
    let last: Session | undefined;
    const open = new Set<Session>();
    const late = async <T>(work: () => T | Promise<T>): Promise<T> => {
      await onTheWay("read");
      const rows = await work();
      await onTheWay("rows");
      return rows;
    };
    return {
      capabilities: { ...ground.capabilities, synchronous: false },
      open: (schema) => ground.open(schema),
      migrate: (schema) => ground.migrate(schema),
      migrationSql: (schema, from) => ground.migrationSql(schema, from),
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
            late(async () => {
              if (how === "exclusive") await this.#exclude(session);
              return Promise.all(lookups.map((lookup) => this.#read(session, lookup)));
            }),
          commit: async (writes) => {
            await onTheWay("commit");
            try {
              await this.#commit(session, how, writes, landed);
            } finally {
              end();
            }
            await onTheWay("outcome");
          },
          abort: end,
        };
      },
      reader: {
        get: (lookups) => late(() => ground.reader.get(lookups)),
        range: (range) => late(() => ground.reader.range(range)),
        search: (searches) => late(() => ground.reader.search(searches)),
      },
      watch: (listener) => ground.watch?.(listener) ?? ((): void => {}),
      turn: () => ground.turn(),
      close: () => Promise.resolve(),
      disconnect: () => {
        for (const session of open) this.#end(session);
        open.clear();
      },
    };
  }

  async #read(session: Session, lookup: Lookup): Promise<readonly Row[]> {
    if (lookup.claim !== true) return this.#stored(lookup);
    await session.waitFor(() => session.before);
    const free = this.#stored({ ...lookup, limit: lookup.limit + this.#claims.size }).filter(
      (row) => {
        const holder = this.#claims.get(idOfRow(lookup, row));
        return holder === undefined || holder === session;
      },
    );
    const rows = free.slice(0, lookup.limit);
    for (const row of rows) if (!session.isOver) this.#claims.set(idOfRow(lookup, row), session);
    return rows;
  }

  /** What is committed at this moment. */
  #stored(lookup: Lookup): readonly Row[] {
    const [rows = []] = this.#ground.begin().read([lookup]) as readonly (readonly Row[])[];
    return rows;
  }

  async #exclude(session: Session): Promise<void> {
    const inTheWay = (): Session | undefined => session.before ?? this.#others(session);
    while (!session.isOver && inTheWay() !== undefined) await session.waitFor(inTheWay);
    if (!session.isOver) this.#exclusive = session;
  }

  async #commit(
    session: Session,
    how: Access,
    writes: readonly Write[],
    landed: ConnectionOptions["landed"],
  ): Promise<void> {
    if (how === "exclusive") await this.#exclude(session);
    // Of one lane's groups one commits at a time, in the order in which they were begun.
    const inTheWay = (): Session | undefined =>
      session.before ?? this.#others(session) ?? this.#holderOf(session, writes);
    while (!session.isOver && inTheWay() !== undefined) await session.waitFor(inTheWay);
    if (session.isOver) throw new Error("the connection is gone");
    const committing = this.#ground.begin().commit(writes);
    if (committing instanceof Promise) await committing;
    landed?.(writes);
  }

  #others(session: Session): Session | undefined {
    return this.#exclusive === session ? undefined : this.#exclusive;
  }

  #holderOf(session: Session, writes: readonly Write[]): Session | undefined {
    return writes
      .map((write) => this.#claims.get(idOfWrite(write)))
      .find((holder) => holder !== undefined && holder !== session);
  }

  #end(session: Session): void {
    if (this.#exclusive === session) this.#exclusive = undefined;
    for (const [id, holder] of this.#claims) if (holder === session) this.#claims.delete(id);
    session.end();
  }
}

/** A group, as the storage has it. */
class Session {
  #before: Session | undefined;
  readonly #ended: Promise<void>;
  #end: () => void = () => {};
  #over = false;
  #waitsFor: Session | undefined;

  constructor(last: Session | undefined) {
    // Who has ended is forgotten here, so that a lane's past is not kept.
    this.#before = last?.isOver === true ? last.before : last;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The one before it on its lane that has not ended. */
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

  /** Waits until nothing is in the way; by the time that is heard, something else may be. Refused when what is in the way waits for this one, as a database finds a deadlock. */
  async waitFor(inTheWay: () => Session | undefined): Promise<void> {
    for (let other = inTheWay(); other !== undefined && !this.#over; other = inTheWay()) {
      for (let next: Session | undefined = other; next !== undefined; next = next.#waitsFor) {
        if (next === this) throw new StorageConflict("two groups waited for each other");
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
