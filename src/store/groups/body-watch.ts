import type { Collection, KeyValue, Lookup } from "../../ports/index.ts";
import type { Rows, Snapshot } from "../transactions/snapshot.ts";
import type { VersionedRow } from "../transactions/touched-rows.ts";

/** The reads of one body: what it has read, since its result depends on it, and its waits. */
export class BodyReads implements Snapshot {
  readonly lookups: Lookup[] = [];
  /** How many reads of the storage the body waits for. */
  waits = 0;
  readonly #snapshot: Snapshot;
  readonly #onSettled: () => void;
  /**
   * Ends a wait, before the body continues. It is made for the first wait, since there is none if
   * the storage is synchronous.
   */
  #endWait: (() => void) | undefined;

  /** `onSettled` is called when a read that the body waited for has settled. */
  constructor(snapshot: Snapshot, onSettled: () => void) {
    this.#snapshot = snapshot;
    this.#onSettled = onSettled;
  }

  read(lookup: Lookup): Rows | Promise<Rows> {
    this.lookups.push(lookup);
    const rows = this.#snapshot.read(lookup);
    if (rows instanceof Promise) this.#waitFor(rows);
    return rows;
  }

  /** A recent row is held, so it needs no entry in `lookups`. */
  recent(collection: Collection, key: readonly KeyValue[]): VersionedRow | undefined {
    return this.#snapshot.recent(collection, key);
  }

  /** The body's result depends on what it reads, not on what it plans to read. */
  prefetch(plan: () => readonly Lookup[]): void {
    this.#snapshot.prefetch(plan);
  }

  #waitFor(rows: Promise<Rows>): void {
    this.#endWait ??= () => {
      this.waits--;
      this.#onSettled();
    };
    this.waits++;
    void rows.then(this.#endWait, this.#endWait);
  }
}

/**
 * Rejects a body that awaits anything but its transaction, because it would block all other
 * commands. When its reads have settled, a body makes its next read or ends before the event loop
 * continues. A body that has done neither awaits something else.
 */
export class BodyWatch {
  readonly #yieldToEventLoop: () => Promise<void>;
  /** The bodies that run, and the function that rejects each. */
  readonly #running = new Map<BodyReads, (error: Error) => void>();
  #watching = false;

  constructor(yieldToEventLoop: () => Promise<void>) {
    this.#yieldToEventLoop = yieldToEventLoop;
  }

  /** Returns what a body reads with, for `run`. */
  readsOf(snapshot: Snapshot): BodyReads {
    return new BodyReads(snapshot, () => this.#watch());
  }

  run<T>(reads: BodyReads, body: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#running.set(reads, reject);
      body().then(
        (value) => {
          this.#running.delete(reads);
          resolve(value);
        },
        (error: unknown) => {
          this.#running.delete(reads);
          reject(error);
        },
      );
      this.#watch();
    });
  }

  #watch(): void {
    if (this.#watching) return;
    const watched: BodyReads[] = [];
    for (const reads of this.#running.keys()) if (reads.waits === 0) watched.push(reads);
    if (watched.length === 0) return;
    this.#watching = true;
    void this.#yieldToEventLoop().then(() => {
      this.#watching = false;
      for (const reads of watched) {
        const reject = this.#running.get(reads);
        if (reads.waits > 0 || reject === undefined) continue;
        this.#running.delete(reads);
        reject(foreignAwait());
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
