import type { Clock, Index, Logger, Write } from "../../ports/index.ts";
import { Follower, type Step } from "../../queue/index.ts";
import type { Store } from "../../store/index.ts";
import { Subscribers } from "./subscribers.ts";

/** A log whose new rows streams wait for. */
interface WatchedLog<R extends { readonly position: number }> {
  /** The rows of all scopes in commit order. */
  readonly byPosition: Index<R>;
  /**
   * Returns the key of the streams that wait for a row: its scope, its mailbox or its contact.
   * Undefined if no stream waits for such rows.
   */
  readonly keyOf: (row: R) => string | undefined;
}

interface LogWatcherOptions<R extends { readonly position: number }> extends WatchedLog<R> {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after each scan. Another process may have committed since the last one. */
  readonly scanned?: () => void;
}

/** Rows that one scan examines. */
const maxExamined = 1_000;
/** The time between two scans if no notification arrives, in milliseconds. */
const scanIntervalMs = 15_000;

/**
 * Wakes the streams that wait for rows of a log. The rows that this process commits name their
 * streams, so a commit causes no work for other streams. When another process may have committed,
 * one scan of the log finds all streams to wake.
 */
export class LogWatcher<R extends { readonly position: number }> {
  readonly #options: LogWatcherOptions<R>;
  /** The functions that wake the streams, by the key of the rows that they wait for. */
  readonly #waiting = new Subscribers<() => void>();
  /** The scans while streams wait. */
  #scanner: Promise<Scanner> | undefined;
  #isClosed = false;

  constructor(options: LogWatcherOptions<R>) {
    this.#options = options;
  }

  /**
   * Calls `wake` when rows with this key may have been committed. Resolves when no later row can be
   * missed. Returns a function that unsubscribes.
   */
  async join(key: string, wake: () => void): Promise<() => void> {
    // Wrapped, so that one function can be registered twice.
    const own = (): void => wake();
    this.#waiting.add(key, own);
    const leave = (): void => {
      this.#waiting.remove(key, own);
      if (this.#waiting.isEmpty) this.#stopScans();
    };
    // A stream that opens while the engine stops would otherwise scan a closed storage for ever.
    if (this.#isClosed) return leave;
    try {
      await (this.#scanner ??= this.#startScans());
      return leave;
    } catch (error) {
      this.#scanner = undefined;
      leave();
      throw error;
    }
  }

  /** Wakes the streams of rows that this process committed. */
  onWrites(writes: readonly Write[]): void {
    if (this.#waiting.isEmpty) return;
    const { byPosition, keyOf } = this.#options;
    const keys = new Set<string>();
    for (const write of writes) {
      if (write.kind === "insert" && write.collection === byPosition.collection) {
        const key = keyOf(write.row as unknown as R);
        if (key !== undefined) keys.add(key);
      }
    }
    for (const key of keys) this.#wake(key);
  }

  /** Scans the log. Call this when another process may have committed. */
  wake(): void {
    void this.#scanner?.then(({ follower }) => follower.wake()).catch(() => {});
  }

  /** Starts no more scans. Call this when the engine stops. */
  close(): void {
    this.#isClosed = true;
    this.#stopScans();
  }

  #stopScans(): void {
    void this.#scanner?.then(({ follower }) => follower.stop()).catch(() => {});
    this.#scanner = undefined;
  }

  async #startScans(): Promise<Scanner> {
    const { store, clock, logger, scanned = () => {} } = this.#options;
    const scanner: Scanner = {
      position: await this.#newest(),
      follower: new Follower({
        store,
        clock,
        logger,
        pollMs: scanIntervalMs,
        step: async () => {
          const step = await this.#scan(scanner);
          scanned();
          return step;
        },
        failureText: "failed to read the log for streams; retrying",
        recoveryText: "the log for streams can be read again",
      }),
    };
    scanner.follower.start();
    return scanner;
  }

  async #scan(scanner: Scanner): Promise<Step> {
    const { store, byPosition, keyOf } = this.#options;
    const rows = await store.unscopedReads.range<R>({
      index: byPosition,
      prefix: [],
      order: "ascending",
      after: [scanner.position],
      limit: maxExamined,
    });
    if (rows.length < maxExamined) {
      scanner.position = rows.at(-1)?.position ?? scanner.position;
      for (const key of new Set(rows.map(keyOf))) if (key !== undefined) this.#wake(key);
      return "wait";
    }
    // Most of these rows are this process's own. Reading them all would cost more than waking all.
    // If this read fails, the scan is repeated from the same position.
    scanner.position = await this.#newest();
    for (const key of this.#waiting.topics()) this.#wake(key);
    return "wait";
  }

  async #newest(): Promise<number> {
    const [newest] = await this.#options.store.unscopedReads.range<R>({
      index: this.#options.byPosition,
      prefix: [],
      order: "descending",
      limit: 1,
    });
    return newest?.position ?? 0;
  }

  #wake(key: string): void {
    for (const wake of this.#waiting.of(key)) wake();
  }
}

interface Scanner {
  /** The log was read up to this position, or its streams were woken. */
  position: number;
  readonly follower: Follower;
}
