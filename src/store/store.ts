import { idSource, TidingsError, type GenerateId, type Scope } from "../kernel/index.ts";
import type { Clock, Logger, Random, Schema, StoragePort, Write } from "../ports/index.ts";
import { contended, isStorageFailure } from "./errors.ts";
import { maxConflicts, maxGroupSize, type Origin } from "./groups/command-queue.ts";
import { Pipeline } from "./groups/pipeline.ts";
import { HostTransactions } from "./host-transactions.ts";
import { unscopedReads, type Reads, type UnscopedReads } from "./reads/reads.ts";
import { RecentRows } from "./transactions/recent-rows.ts";
import { RememberedReads } from "./transactions/remembered-reads.ts";
import type { Projection, Starter, Tx, UnscopedTx } from "./transactions/transaction.ts";

interface StoreOptions {
  readonly port: StoragePort;
  readonly schema: Schema;
  readonly projection?: Projection;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Aborts at the deadline of a stop. Open transactions of the host application are then rolled
   * back, and no command waits for long for a row that another transaction has locked. By default
   * never.
   */
  readonly stopDeadline?: AbortSignal;
}

/** If this many commands wait, callers' commands fail with `overloaded`. */
const maxWaiting = 10_000;
/** If this many wait, the engine's own work, such as jobs and carriers' reports, fails, too. */
const maxWaitingInTotal = 20_000;

interface CommandOptions {
  /**
   * Who gave the command. By default `caller`. The engine's own work is queued even if callers fill
   * the queue, since nobody would retry it.
   */
  readonly origin?: Origin;
}

interface CommitOptions extends CommandOptions {
  /** Whether the command locks rows (`ReadOptions.lock`). */
  readonly locks?: boolean;
  /** Whether the command fails with `storage_contended` at the first conflict. */
  readonly failsOnConflict?: boolean;
}

/** Whether the storage committed a group. */
interface CommitOutcome {
  /** When it ended, in milliseconds. */
  readonly at: number;
  /** Why the storage failed. Absent if it committed. */
  readonly error?: TidingsError;
}

/** The options of commits of the engine's own work. */
export const background: CommitOptions = { origin: "engine" };

/** Adds transactions to a storage port. */
export class Store {
  /** Draws the engine's ids. */
  readonly drawId: GenerateId;
  /** Reads committed rows of all scopes. */
  readonly unscopedReads: UnscopedReads;
  readonly #options: StoreOptions;
  readonly #pipeline: Pipeline;
  /**
   * The pipeline of commands that lock rows: a pipeline of its own if the storage has locks. Its
   * groups wait for one another, and neither kind of commands waits for the other's groups.
   */
  readonly #locking: Pipeline;
  readonly #hosts: HostTransactions;
  readonly #listeners = new Set<(writes: readonly Write[]) => void>();
  #starter: Starter | undefined;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** The number of commands that were queued so far. */
  #queued = 0;
  #lastCommit: CommitOutcome | undefined;
  /** The damage that the storage reported first. */
  #damage: TidingsError | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
    const { port, clock, random, logger, projection } = options;
    const { stopDeadline = new AbortController().signal } = options;
    this.drawId = idSource(clock, random);
    const { reader } = port;
    this.unscopedReads = unscopedReads({
      get: (lookups) => this.whileOpen(() => reader.get(lookups)),
      range: (range) => this.whileOpen(() => reader.range(range)),
      search: (searches) => this.whileOpen(() => reader.search(searches)),
    });
    const { synchronous } = port.capabilities;
    const common = {
      clock,
      drawId: this.drawId,
      firstVersion: firstVersions(random),
      projection,
      remembered: synchronous ? undefined : new RememberedReads(),
    };
    // If the reads of commands share round trips, one more read costs little.
    const recent = synchronous ? new RecentRows(clock) : undefined;
    this.#hosts = new HostTransactions({
      ...common,
      port,
      logger,
      stopDeadline,
      onCommit: (writes) => {
        recent?.forget(writes);
        this.#publish(writes);
      },
    });
    const committing = {
      ...common,
      port,
      recent,
      starter: () => this.#starter,
      stopDeadline,
      contended,
      onCommit: (writes: readonly Write[]) => {
        this.#lastCommit = { at: clock.now() };
        this.#publish(writes);
      },
      onFailure: (error: TidingsError) => {
        this.#lastCommit = { at: clock.now(), error };
        if (error.code === "storage_damaged") this.reportDamage(error);
      },
    };
    this.#pipeline = new Pipeline(committing);
    this.#locking = synchronous
      ? this.#pipeline
      : new Pipeline({ ...committing, oneAtATime: true });
  }

  /**
   * The outcome of the last commit of this process. Undefined before the first. After damage, a
   * failure for ever: while some commits succeed, others fail at every try.
   */
  get lastCommit(): CommitOutcome | undefined {
    if (this.#damage === undefined) return this.#lastCommit;
    return { at: this.#options.clock.now(), error: this.#damage };
  }

  /**
   * Notes that the storage is damaged: some commits fail from now on, or all. Later commits may
   * succeed, but no storage is repaired while it is open.
   */
  reportDamage(error: TidingsError): void {
    if (this.#damage !== undefined) return;
    this.#damage = error;
    this.#options.logger.error({ err: error }, "the storage is damaged");
  }

  /** Connects and migrates. Later calls return the same promise. After a failure they try again. */
  open(): Promise<void> {
    this.#opening ??= this.#options.port.open(this.#options.schema).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /**
   * Runs `work` in a transaction of a scope and resolves when the transaction is committed. When
   * `work` throws, its writes are discarded and the promise rejects with its error. The promise
   * rejects only after everything that `work` read is committed.
   * @throws TidingsError `storage_unavailable`, `storage_contended` (8 runs met a conflict),
   * `overloaded` (10,000 commands wait; 20,000 for the engine's own work), `shutting_down`
   */
  commit<T>(scope: Scope, work: (tx: Tx) => Promise<T>, options?: CommitOptions): Promise<T> {
    return this.commitUnscoped((tx) => work(tx.in(scope)), options);
  }

  /** Like `commit`, in a transaction that reads and writes the rows of all scopes. */
  commitUnscoped<T>(
    work: (tx: UnscopedTx) => Promise<T>,
    { origin = "caller", locks = false, failsOnConflict = false }: CommitOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // What this throws rejects the promise.
      this.#checkAccepts(origin);
      const pipeline = locks ? this.#locking : this.#pipeline;
      pipeline.add({
        work,
        resolve: (value) => resolve(value as T),
        reject,
        place: this.#queued++,
        arrivedAt: this.#options.clock.monotonic(),
        origin,
        conflicts: 0,
        maxConflicts: failsOnConflict ? 1 : maxConflicts,
        groupSize: maxGroupSize,
        begun: undefined,
      });
    });
  }

  /** @throws TidingsError `shutting_down` */
  #checkIsOpen(): void {
    if (this.#closing !== undefined) throw storageClosed();
  }

  /** @throws TidingsError if no command is accepted now */
  #checkAccepts(origin: Origin): void {
    this.#checkIsOpen();
    if (origin !== "engine") this.#hosts.refuseInside();
    if (this.#waiting >= (origin === "engine" ? maxWaitingInTotal : maxWaiting)) {
      throw new TidingsError(
        "overloaded",
        "Too many commands are waiting for the storage. Retry later.",
      );
    }
  }

  /** The number of commands that wait. */
  get #waiting(): number {
    const ofLocking = this.#locking === this.#pipeline ? 0 : this.#locking.size;
    return this.#pipeline.size + ofLocking;
  }

  /**
   * Runs `work` in a transaction that the host application opened, through the application's
   * handle. The writes are committed or rolled back with that transaction. Commands on one handle
   * run one after the other. After a conflict the command runs again, unless it would meet the
   * conflict again: then only the application can help, by running its transaction again.
   * @throws TidingsError `invalid_option` when the storage cannot join a transaction,
   * `storage_contended`, `storage_unavailable`
   */
  within<T>(handle: unknown, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.withinUnscoped(handle, (tx) => work(tx.in(scope)));
  }

  /** Like `within`, in a transaction that reads and writes the rows of all scopes. */
  withinUnscoped<T>(handle: unknown, work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    return this.#hosts.within(handle, work);
  }

  /**
   * Called at once when the application calls a command in the transaction of a handle. Returns a
   * function to be called when the command has ended. The transaction fails if its work resolves
   * before that. Undefined if the transaction is not known, so that nobody waits for the command.
   */
  announce(handle: object): (() => void) | undefined {
    return this.#hosts.announce(handle);
  }

  /**
   * Opens a transaction and passes its handle to `work`. `within` accepts the handle. Commits when
   * `work` resolves.
   * @throws TidingsError `invalid_option` when the storage has no transactions, `overloaded`,
   * `storage_unavailable`, `shutting_down`; and the errors of `work`
   */
  async transaction<T>(
    work: (handle: object) => Promise<T>,
    { origin = "caller" }: CommandOptions = {},
  ): Promise<T> {
    this.#checkIsOpen();
    return this.#hosts.transaction(work, origin);
  }

  /** Whether the storage supports `transaction`. */
  get hasTransactions(): boolean {
    return this.#options.port.transaction !== undefined;
  }

  /** Reads committed rows of one scope. */
  reads(scope: Scope): Reads {
    return this.unscopedReads.in(scope);
  }

  /**
   * Calls the storage for something else than a commit. If the storage is closed meanwhile, this
   * fails with `shutting_down` and not as if the storage were broken.
   */
  async whileOpen<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#closing === undefined || !isStorageFailure(error)) throw error;
      throw storageClosed(error);
    }
  }

  /** Yields to the event loop. */
  yieldToEventLoop(): Promise<void> {
    return this.#options.port.yieldToEventLoop();
  }

  /**
   * Calls `listener` with the writes of each commit of this process, before the commands resolve.
   * The listener must not block. Its errors are logged. Returns a function that unsubscribes.
   */
  onCommit(listener: (writes: readonly Write[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Lets `starter` begin work in the transactions that insert rows of its collection, except those
   * of the host application, which may never commit.
   */
  startWith<R extends object>(starter: Starter<R>): void {
    this.#starter = starter;
  }

  /**
   * Rejects new commands, runs the waiting ones, and closes the storage. Later calls wait for that.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#pipeline.idle(), this.#locking.idle()]);
    await this.#options.port.close();
  }

  #publish(writes: readonly Write[]): void {
    for (const listener of this.#listeners) {
      try {
        listener(writes);
      } catch (error) {
        this.#options.logger.error({ err: error }, "a commit listener failed");
      }
    }
  }
}

function storageClosed(cause?: unknown): TidingsError {
  const message = "The engine is shutting down and has closed its storage.";
  return new TidingsError("shutting_down", message, { cause });
}

/**
 * Draws the first version of a new row: 48 random bits. An update adds one to the version, so only
 * chance, 1 in 2^48 for each update, lets a new row have a version of an earlier row with the same
 * key. A command that read the earlier row could then write the new one.
 */
function firstVersions(random: Random): () => number {
  return () => random.bytes(6).reduce((version, byte) => version * 256 + byte, 0);
}
