import { type Scope, TidingsError, withDeadline } from "../kernel/index.ts";
import type { Clock, Group, Logger, Random, Schema, StoragePort, Write } from "../ports/index.ts";
import { HostTransactions } from "./host.ts";
import { Committer, type Member, mostConflicts } from "./committer.ts";
import { type Reads, type UnscopedReads, unscopedReads } from "./reads.ts";
import type { Projection, Tx, UnscopedTx } from "./transaction.ts";

export interface StoreOptions {
  readonly port: StoragePort;
  readonly schema: Schema;
  readonly projection?: Projection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Commands that may wait for their commit; beyond it the engine says that it is overloaded. */
const mostWaiting = 10_000;
/** With the engine's own work, which has room that callers can't fill: jobs, and what carriers bring. */
const mostWaitingInAll = 20_000;

export interface CommitOptions {
  /** The engine's own work: nobody would try it again if it were refused because callers fill the queue. */
  readonly own?: boolean;
  /** The work claims rows (`ReadOptions.claim`). */
  readonly claims?: boolean;
}

/** A storage with transactions. */
export class Store {
  readonly #options: StoreOptions;
  readonly #queue: Member[] = [];
  readonly #committer: Committer;
  readonly #firstVersion: () => number;
  readonly #reads: UnscopedReads;
  readonly #hosts: HostTransactions;
  readonly #listeners = new Set<(writes: readonly Write[]) => void>();
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #draining: Promise<void> | undefined;
  /** Commands that ever came. */
  #came = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
    const { port, clock, random, logger, projection } = options;
    this.#reads = unscopedReads(port.reader);
    this.#hosts = new HostTransactions({
      port,
      join: (handle, work, wrote) => this.#join(handle, work, wrote),
      logger,
      committed: (writes) => this.#tell(writes),
    });
    this.#firstVersion = firstVersions(clock, random);
    this.#committer = new Committer({
      port,
      clock,
      firstVersion: this.#firstVersion,
      projection,
      committed: (writes) => this.#tell(writes),
      again: (members) => this.#takeBack(members),
    });
  }

  /** Connects and migrates. Memoised; after a failure the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#options.port.open(this.#options.schema).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /**
   * Runs `work` in a transaction of a scope and answers when it is committed. What `work` throws is thrown on, and nothing of it is kept;
   * that too is answered only after the commit of all that it saw.
   * @throws TidingsError `storage_unavailable`, `storage_contended` (run 8 times in vain), `overloaded` (10,000 wait; 20,000 when it
   * is the engine's own work), `shutting_down`
   */
  commit<T>(scope: Scope, work: (tx: Tx) => Promise<T>, options?: CommitOptions): Promise<T> {
    return this.commitUnscoped((tx) => work(tx.in(scope)), options);
  }

  /** The same in a transaction that reaches all rows. */
  commitUnscoped<T>(
    work: (tx: UnscopedTx) => Promise<T>,
    { own = false, claims = false }: CommitOptions = {},
  ): Promise<T> {
    if (this.#closing !== undefined) {
      return Promise.reject(new TidingsError("shutting_down", "The engine is shutting down."));
    }
    if (this.#queue.length >= (own ? mostWaitingInAll : mostWaiting)) {
      return Promise.reject(
        new TidingsError("overloaded", "Too many commands wait for the storage. Try again."),
      );
    }
    return new Promise<T>((resolve, reject) => {
      const place = this.#came++;
      this.#queue.push({
        work,
        resolve: (value) => resolve(value as T),
        reject,
        place,
        claims,
        conflicts: 0,
        alone: false,
      });
      this.#work();
    });
  }

  /**
   * Runs `work` in the host's open transaction, through the host's own handle: it commits or vanishes with what the host does there.
   * Those of one handle run one after the other. A conflict is the host's to try again, since its transaction can't be.
   * @throws TidingsError `invalid_option` where the storage can't join it, `storage_contended`, `storage_unavailable`
   */
  within<T>(handle: unknown, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.withinUnscoped(handle, (tx) => work(tx.in(scope)));
  }

  /** The same in a transaction that reaches all rows. */
  withinUnscoped<T>(handle: unknown, work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    return this.#hosts.within(handle, work);
  }

  /**
   * Opens a transaction of the storage and runs `work` with its handle, which `within` takes. Commits when `work` resolves.
   * @throws TidingsError `invalid_option` where the storage has none, `overloaded`, `storage_unavailable`, `shutting_down`; and what
   * `work` throws
   */
  transaction<T>(
    work: (handle: object) => Promise<T>,
    { own = false }: { readonly own?: boolean } = {},
  ): Promise<T> {
    return this.#hosts.transaction(work, own);
  }

  /** Whether `transaction` can be had. */
  get hasTransactions(): boolean {
    return this.#options.port.transaction !== undefined;
  }

  /** Resolves when no transaction is open, or at the deadline: the host's that still are then are rolled back. */
  async transactionsEnd(deadlineMs: number): Promise<void> {
    await withDeadline(
      this.#options.clock,
      deadlineMs,
      () => this.#hosts.idle(),
      () => this.#hosts.cut(),
    );
  }

  #join<T>(
    handle: unknown,
    work: (tx: UnscopedTx) => Promise<T>,
    wrote: (writes: readonly Write[]) => void,
  ): Promise<T> {
    const { port, clock, projection } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const begin = (): Group => {
        if (port.host !== undefined) return port.host(handle);
        throw new TidingsError(
          "invalid_option",
          "tx: this storage can't join a transaction of yours.",
        );
      };
      const { capabilities } = port;
      const committer = new Committer({
        port: { begin, turn: () => port.turn(), capabilities },
        clock,
        firstVersion: this.#firstVersion,
        projection,
        committed: wrote,
        again: () => {},
      });
      const answer = (value: unknown): void => resolve(value as T);
      // The last try: what meets a conflict is not run again here.
      void committer.runGroup([
        {
          work,
          resolve: answer,
          reject,
          place: 0,
          claims: false,
          conflicts: mostConflicts - 1,
          alone: true,
        },
      ]);
    });
  }

  /** Committed rows of a scope only. */
  reads(scope: Scope): Reads {
    return this.#reads.in(scope);
  }

  /** Committed rows of all scopes. */
  get unscopedReads(): UnscopedReads {
    return this.#reads;
  }

  /** Resolves in a later turn of the event loop. */
  turn(): Promise<void> {
    return this.#options.port.turn();
  }

  /**
   * Calls `listener` with what was written, after each commit of this process and before it is answered. It must not block;
   * what it throws is logged. Answers how to stop.
   */
  onCommit(listener: (writes: readonly Write[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Commands that wait are still answered; new ones are refused. Memoised. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // A commit that fails gives its commands back: they are run again before the storage closes.
    do {
      await this.#draining;
      await this.#committer.idle();
    } while (this.#draining !== undefined);
    await this.#options.port.close();
  }

  #work(): void {
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Commands that are sent in the same breath share the first commit, and so do those of requests that arrived together.
    await this.#options.port.turn();
    while (this.#queue.length > 0) {
      await this.#committer.runGroup(this.#queue);
      await this.#options.port.turn();
    }
    this.#draining = undefined;
  }

  /** In the order in which they came, so that what a caller sent first stays first. */
  #takeBack(members: readonly Member[]): void {
    this.#queue.unshift(...members);
    this.#queue.sort((a, b) => a.place - b.place);
    this.#work();
  }

  #tell(writes: readonly Write[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(writes);
      } catch (error) {
        this.#options.logger.error({ err: error }, "a listener to commits failed");
      }
    }
  }
}

/**
 * No row begins with a version that an earlier row of its key had: whoever read that one must not write this one. Milliseconds
 * tell rows of one key apart, and a count those of one millisecond, which each process begins somewhere else.
 */
function firstVersions(clock: Clock, random: Random): () => number {
  let count: number | undefined;
  return () => {
    if (count === undefined) {
      const [high = 0, low = 0] = random.bytes(2);
      count = high * 256 + low;
    }
    return clock.now() * 1_000 + (count++ % 1_000);
  };
}
