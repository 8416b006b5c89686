import { endsBefore, getOrInsert, TidingsError } from "../kernel/index.ts";
import {
  keyOf,
  positionColumnOf,
  type Collection,
  type Group,
  type Logger,
  type Row,
  type StoragePort,
  type Write,
} from "../ports/index.ts";
import { contendedInside } from "./errors.ts";
import { CommandQueue, maxConflicts, type Origin } from "./groups/command-queue.ts";
import { Committer, type CommitterOptions } from "./groups/committer.ts";
import { HandleQueue } from "./handle-queue.ts";
import type { UnscopedTx } from "./transactions/transaction.ts";

interface HostTransactionsOptions extends Pick<
  CommitterOptions,
  "clock" | "drawId" | "firstVersion" | "projection" | "remembered"
> {
  readonly port: StoragePort;
  readonly logger: Logger;
  /** When this aborts, the application's open and future transactions are rolled back. */
  readonly stopDeadline: AbortSignal;
  /** Called with the committed writes of a transaction that the engine opened. */
  readonly onCommit: (writes: readonly Write[]) => void;
}

/** The maximum number of transactions that are open or wait. */
const maxTransactions = 1_000;

/**
 * Transactions in which the host application's own statements commit together with commands.
 */
export class HostTransactions {
  readonly #options: HostTransactionsOptions;
  /** A handle is one connection, so its commands run one after the other. */
  readonly #queues = new WeakMap<object, HandleQueue>();
  /** The number of transactions that are open or wait. */
  #open = 0;

  constructor(options: HostTransactionsOptions) {
    this.#options = options;
  }

  /**
   * Runs a command in a transaction that the application opens and commits. The engine does not
   * learn of the commit.
   */
  within<T>(handle: unknown, work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    if (typeof handle !== "object" || handle === null) {
      return this.#runCommand(handle, work, () => {});
    }
    const queue = getOrInsert(this.#queues, handle, () => new HandleQueue());
    const { onWrites } = queue;
    return queue.run(() => this.#runCommand(handle, work, onWrites));
  }

  /**
   * Called at once when the application calls a command in the transaction of a handle. Returns a
   * function to be called when the command has ended. Undefined if no command of the
   * handle is known, as before the first one in a transaction that the application opened.
   */
  announce(handle: object): (() => void) | undefined {
    return this.#queues.get(handle)?.announce();
  }

  /**
   * Opens a transaction, passes its handle to `work`, commits, and publishes the writes of its
   * commands. A transaction of the engine itself (`origin`) has no deadline: it ends with its
   * job.
   * @throws TidingsError `invalid_option` when the storage has no transactions, `overloaded`,
   * `storage_unavailable`, `shutting_down`; and the errors of `work`
   */
  async transaction<T>(work: (handle: object) => Promise<T>, origin: Origin): Promise<T> {
    const { port, onCommit } = this.#options;
    if (port.transaction === undefined) {
      throw new TidingsError(
        "invalid_option",
        "transaction: this storage does not support transactions with your own statements. " +
          "sqlite({ file }) and postgres({ pool }) do.",
      );
    }
    if (origin !== "engine") this.refuseInside();
    if (this.#open >= maxTransactions) {
      throw new TidingsError(
        "overloaded",
        "Too many transactions are waiting for the storage. Retry later.",
      );
    }
    const writes: Write[] = [];
    this.#open++;
    try {
      // The cast is safe: a storage that has transactions passes a handle.
      const run = (handle: unknown): Promise<T> =>
        this.#runWork(handle as object, work, writes, origin);
      const value = await port.transaction(run);
      if (writes.length > 0) onCommit(await this.#withStoredLogs(writes));
      return value;
    } finally {
      this.#open--;
    }
  }

  /**
   * Refuses a call that comes from inside an open transaction and does not join it. It would commit
   * even if the transaction rolls back, or both would wait for each other.
   * @throws TidingsError `invalid_option`
   */
  refuseInside(): void {
    if (this.#options.port.isInsideTransaction?.() !== true) return;
    throw new TidingsError(
      "invalid_option",
      "tx: this call comes from inside a transaction of the engine and does not join it. It " +
        "would commit even if the transaction rolls back, or wait for it forever. Pass the " +
        "transaction's handle to the command: { tx }. If the operation does not accept tx, call " +
        "it before or after the transaction.",
    );
  }

  /**
   * Runs one command in the transaction that is open on a handle. Calls `onWrites` with its writes.
   */
  #runCommand<T>(
    handle: unknown,
    work: (tx: UnscopedTx) => Promise<T>,
    onWrites: (writes: readonly Write[]) => void,
  ): Promise<T> {
    const { port, clock } = this.#options;
    const { capabilities } = port;
    const begin = (): Group => {
      if (port.host !== undefined) return port.host(handle);
      throw new TidingsError(
        "invalid_option",
        "tx: this storage cannot join a transaction. Leave `tx` out.",
      );
    };
    const queue = new CommandQueue(capabilities);
    const committer = new Committer({
      ...this.#options,
      port: { begin, yieldToEventLoop: () => port.yieldToEventLoop(), capabilities },
      onCommit: onWrites,
      contended: contendedInside,
      onFailure: () => {},
      requeue: (commands) => {
        queue.addAgain(commands);
        if (queue.size > 0) void committer.runGroup(queue);
      },
    });
    return new Promise<T>((resolve, reject) => {
      queue.add({
        work,
        resolve: (value) => resolve(value as T),
        reject,
        place: 0,
        arrivedAt: clock.monotonic(),
        origin: "caller",
        conflicts: 0,
        maxConflicts,
        groupSize: 1,
        begun: undefined,
      });
      void committer.runGroup(queue);
    });
  }

  /** Runs the application's function in a transaction that the engine has opened. */
  async #runWork<T>(
    handle: object,
    work: (handle: object) => Promise<T>,
    writes: Write[],
    origin: Origin,
  ): Promise<T> {
    const { stopDeadline } = this.#options;
    if (origin !== "engine") stopDeadline.throwIfAborted();
    const queue = new HandleQueue((more) => void writes.push(...more));
    this.#queues.set(handle, queue);
    let value: T;
    try {
      const working = work(handle);
      if (origin !== "engine" && !(await endsBefore(stopDeadline, working))) {
        stopDeadline.throwIfAborted();
      }
      value = await working;
      // The application's own statements would commit without that command.
      if (queue.hasAnnounced) throw notAwaited();
    } finally {
      // A running command ends before its transaction. A later one would write outside of it.
      await queue.end();
    }
    // A connection pool reuses the handle. After a failure, the storage discards it, and the queue
    // stays, so that it refuses the commands of work that still runs.
    this.#queues.delete(handle);
    return value;
  }

  /**
   * Replaces the insertions into logs by the rows that the logs have. The application may have
   * rolled back to a savepoint, and listeners must not learn of events that were not committed.
   */
  async #withStoredLogs(writes: readonly Write[]): Promise<readonly Write[]> {
    const logged = writes.filter(isLogged);
    if (logged.length === 0) return writes;
    const rest = writes.filter((write) => !isLogged(write));
    try {
      const lookups = logged.map(({ collection, row }) => ({
        index: collection.primary,
        key: keyOf(collection, row),
        limit: 1,
      }));
      const found = await this.#options.port.reader.get(lookups);
      return [
        ...rest,
        ...logged.flatMap(({ collection }, i) =>
          (found[i] ?? []).map((row) => ({ kind: "insert" as const, collection, row })),
        ),
      ];
    } catch (error) {
      this.#options.logger.warn(
        { err: error },
        "a transaction was committed, but its log could not be read: listeners were not notified",
      );
      return rest;
    }
  }
}

function notAwaited(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "transaction: your function returned while a command with its `tx` was still running, so " +
      "everything was rolled back. Await each command inside the function.",
  );
}

function isLogged(write: Write): write is { kind: "insert"; collection: Collection; row: Row } {
  return write.kind === "insert" && positionColumnOf(write.collection) !== undefined;
}
