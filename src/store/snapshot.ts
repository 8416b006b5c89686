import type { Group, Index, Lookup, Row, StoragePort } from "../ports/index.ts";
import { encodeKey } from "./keys.ts";
import { type AnySeen, isPrimaryKey, withOverlay, rowsToRead, type Overlay } from "./overlay.ts";

export type Rows = readonly AnySeen[];

/** The committed rows that a transaction reads. */
export interface Snapshot {
  /**
   * Returns rows instead of a promise when the storage is synchronous: a promise would cost more
   * than most reads. `id` is the encoded key.
   */
  read(lookup: Lookup, id: string): Rows | Promise<Rows>;
  /** Adds reads to the next batch, so that `read` returns them later. */
  prefetch(plan: () => readonly Lookup[]): void;
}

interface GroupSnapshotOptions {
  readonly group: Group;
  /** The writes of the previous group, whose commit is in progress. */
  readonly previous: Overlay | undefined;
  readonly port: Pick<StoragePort, "capabilities" | "yieldToEventLoop">;
}

interface PendingRead {
  readonly lookup: Lookup;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The reads of one group of commands. Each lookup is read once. On an asynchronous storage, lookups
 * that concurrent commands make before the event loop continues are read in one batch.
 */
export class GroupSnapshot implements Snapshot {
  readonly #options: GroupSnapshotOptions;
  readonly #known = new Map<Index, Map<string, Rows | Promise<Rows>>>();
  #pending: PendingRead[] = [];
  /** Lookups that commands are going to make. The next batch reads them, too. */
  readonly #planned: Lookup[] = [];

  constructor(options: GroupSnapshotOptions) {
    this.#options = options;
  }

  read(lookup: Lookup, id: string): Rows | Promise<Rows> {
    const { index, limit, claim } = lookup;
    let known = this.#known.get(index);
    if (known === undefined) {
      this.#known.set(index, (known = new Map<string, Rows | Promise<Rows>>()));
    }
    // An encoded key has no space before its first colon, so these texts cannot collide.
    const name =
      limit === 1 && claim !== true ? id : `${claim === true ? "claim " : ""}${limit} ${id}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const rows = this.#read(lookup, id);
    known.set(name, rows);
    if (!(rows instanceof Promise)) return rows;
    return rows.then(
      (found) => {
        known.set(name, found);
        return found;
      },
      (error: unknown) => {
        known.delete(name);
        throw error;
      },
    );
  }

  prefetch(plan: () => readonly Lookup[]): void {
    // Starts no batch. If no command read anything, the group could end before the batch begins.
    if (!this.#options.port.capabilities.synchronous) this.#planned.push(...plan());
  }

  /** Reads lookups in one batch. */
  async readAll(lookups: readonly Lookup[]): Promise<void> {
    await Promise.all(lookups.map(async (lookup) => this.read(lookup, encodeKey(lookup.key))));
  }

  #read(lookup: Lookup, id: string): Rows | Promise<Rows> {
    const { previous } = this.#options;
    if (previous === undefined) return this.#stored(lookup);
    if (isPrimaryKey(lookup) && lookup.claim !== true) {
      // The row will be what the previous group writes.
      const touched = previous.find(lookup.index.collection, id);
      if (touched === undefined) return this.#stored(lookup);
      return touched.row === undefined ? [] : [touched.row];
    }
    const rows = this.#stored({ ...lookup, limit: rowsToRead(lookup, previous) });
    return rows instanceof Promise
      ? rows.then((found) => withOverlay(found, lookup, previous))
      : withOverlay(rows, lookup, previous);
  }

  #stored(lookup: Lookup): Rows | Promise<Rows> {
    const { group, port } = this.#options;
    if (!port.capabilities.synchronous) return this.#enqueue(lookup);
    const found = group.read([lookup]);
    return found instanceof Promise ? found.then(first) : first(found);
  }

  #enqueue(lookup: Lookup): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ lookup, resolve, reject });
      if (this.#pending.length === 1) {
        void this.#options.port.yieldToEventLoop().then(() => this.#fetch());
      }
    });
  }

  async #fetch(): Promise<void> {
    // If the batch fails, the commands that wait for it fail.
    this.readAll(this.#planned.splice(0)).catch(() => {});
    const pending = this.#pending;
    this.#pending = [];
    try {
      const found = await this.#options.group.read(pending.map(({ lookup }) => lookup));
      for (const [i, { resolve }] of pending.entries()) resolve((found[i] ?? []) as Rows);
    } catch (error) {
      for (const { reject } of pending) reject(error);
    }
  }
}

const first = ([rows = []]: readonly (readonly Row[])[]): Rows => rows as Rows;

/** A snapshot that records a body's lookups, since its result depends on them. */
interface RecordedReads extends Snapshot {
  readonly lookups: readonly Lookup[];
}

interface Running {
  /** Reads of the storage that the body waits for. */
  waits: number;
  readonly reject: (error: Error) => void;
}

/**
 * Runs the bodies of commands and rejects a body that awaits anything but its transaction, because
 * it would block all other commands. When its reads have settled, a body makes its next read or
 * ends before the event loop continues. A body that has done neither awaits something else.
 */
export class BodyRunner {
  readonly #yieldToEventLoop: () => Promise<void>;
  readonly #running = new Set<Running>();
  #watching = false;

  constructor(yieldToEventLoop: () => Promise<void>) {
    this.#yieldToEventLoop = yieldToEventLoop;
  }

  run<T>(snapshot: Snapshot, body: (reads: RecordedReads) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const running: Running = { waits: 0, reject };
      this.#running.add(running);
      body(this.#recording(snapshot, running)).then(
        (value) => {
          this.#running.delete(running);
          resolve(value);
        },
        (error: unknown) => {
          this.#running.delete(running);
          reject(error);
        },
      );
      this.#watch();
    });
  }

  #recording(snapshot: Snapshot, running: Running): RecordedReads {
    const lookups: Lookup[] = [];
    return {
      lookups,
      read: (lookup, id) => {
        lookups.push(lookup);
        const rows = snapshot.read(lookup, id);
        return rows instanceof Promise ? this.#waitFor(running, rows) : rows;
      },
      // The body's result depends on what it reads, not on what it plans to read.
      prefetch: (plan) => snapshot.prefetch(plan),
    };
  }

  async #waitFor(running: Running, rows: Promise<Rows>): Promise<Rows> {
    running.waits++;
    try {
      return await rows;
    } finally {
      running.waits--;
      this.#watch();
    }
  }

  #watch(): void {
    if (this.#watching) return;
    const watched = [...this.#running].filter(({ waits }) => waits === 0);
    if (watched.length === 0) return;
    this.#watching = true;
    void this.#yieldToEventLoop().then(() => {
      this.#watching = false;
      for (const running of watched) {
        if (running.waits === 0 && this.#running.delete(running)) running.reject(foreignAwait());
      }
      this.#watch();
    });
  }
}

function foreignAwait(): Error {
  return new TypeError(
    "A command awaited something other than its transaction, which blocks all other commands. " +
      "Do I/O before or after the command.",
  );
}
