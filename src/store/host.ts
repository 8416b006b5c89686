import { TidingsError } from "../kernel/index.ts";
import {
  type Collection,
  keyOf,
  type Logger,
  positionColumnOf,
  type Row,
  type StoragePort,
  type Write,
} from "../ports/index.ts";
import type { UnscopedTx } from "./transaction.ts";

/** Runs one command in the transaction that is open on a handle, and tells what it wrote there. */
export type Join = <T>(
  handle: unknown,
  work: (tx: UnscopedTx) => Promise<T>,
  wrote: (writes: readonly Write[]) => void,
) => Promise<T>;

export interface HostTransactionsOptions {
  readonly port: Pick<StoragePort, "transaction" | "reader">;
  readonly join: Join;
  readonly logger: Logger;
  /** Told of what was committed, where the commit is known of. */
  readonly committed: (writes: readonly Write[]) => void;
}

/** Commands that may wait for their turn in one transaction, and transactions that may be open or wait to be. */
const mostWaiting = 1_000;

/** Transactions that are more than one command: the host's own statements run in them too. */
export class HostTransactions {
  readonly #options: HostTransactionsOptions;
  /** A handle is one connection: the commands on it take turns, whoever opened its transaction. */
  readonly #turns = new WeakMap<object, Turns>();
  readonly #open = new Set<Promise<unknown>>();
  /** Ends the wait for the work in one that is open. */
  readonly #cuts = new Set<() => void>();
  #isCut = false;

  constructor(options: HostTransactionsOptions) {
    this.#options = options;
  }

  /** Runs a command in a transaction that the host opened and commits. Nobody here hears of the commit. */
  within<T>(handle: unknown, work: (tx: UnscopedTx) => Promise<T>): Promise<T> {
    const { join } = this.#options;
    if (typeof handle !== "object" || handle === null) return join(handle, work, () => {});
    let turns = this.#turns.get(handle);
    if (turns === undefined) this.#turns.set(handle, (turns = new Turns()));
    const { wrote } = turns;
    return turns.take(() => join(handle, work, wrote));
  }

  /**
   * Opens a transaction, gives its handle to `work`, commits, and then tells of what the commands in it brought.
   * The engine's own (`own`) is never cut short: it ends with the job that it is of.
   * @throws TidingsError `invalid_option` where the storage has none, `overloaded`, `storage_unavailable`, `shutting_down`; and what
   * `work` throws
   */
  async transaction<T>(work: (handle: object) => Promise<T>, own = false): Promise<T> {
    const { port, committed } = this.#options;
    if (port.transaction === undefined) {
      throw new TidingsError(
        "invalid_option",
        "transaction: this storage has none that your statements could join.",
      );
    }
    if (this.#open.size >= mostWaiting) {
      throw new TidingsError(
        "overloaded",
        "Too many transactions wait for the storage. Try again.",
      );
    }
    const writes: Write[] = [];
    const running = port.transaction((handle) => this.#run(handle, work, writes, own));
    const told = running.then(async (value) => {
      if (writes.length > 0) committed(await this.#standing(writes));
      return value;
    });
    this.#open.add(told);
    try {
      return await told;
    } finally {
      this.#open.delete(told);
    }
  }

  /** Resolves when no transaction is open. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  /** Rolls back the host's transactions that are open or yet to come, whatever their work still waits for. */
  cut(): void {
    this.#isCut = true;
    for (const cut of this.#cuts) cut();
  }

  #unlessCut<T>(working: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cut = (): void => reject(cutShort());
      const ended = (): void => void this.#cuts.delete(cut);
      this.#cuts.add(cut);
      working.then(resolve, reject);
      working.then(ended, ended);
    });
  }

  async #run<T>(
    handle: object,
    work: (handle: object) => Promise<T>,
    writes: Write[],
    own: boolean,
  ): Promise<T> {
    if (this.#isCut && !own) throw cutShort();
    const turns = new Turns((more) => void writes.push(...more));
    this.#turns.set(handle, turns);
    try {
      const working = Promise.resolve(work(handle));
      const close = (): void => turns.close();
      working.then(close, close);
      const value = await (own ? working : this.#unlessCut(working));
      await turns.idle();
      return value;
    } finally {
      // A command that is at it ends before the transaction does; one that comes later would write outside of it.
      await turns.end();
      // A pool gives the same handle to the next who asks.
      this.#turns.delete(handle);
    }
  }

  /**
   * What the host took back to a savepoint of its own has not happened, so what is told of a log is what the log has: that
   * something did happen is never said on trust.
   */
  async #standing(writes: readonly Write[]): Promise<readonly Write[]> {
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
        "a transaction was committed, but not who listens could be told",
      );
      return rest;
    }
  }
}

function cutShort(): TidingsError {
  return new TidingsError(
    "shutting_down",
    "The engine is shutting down, and this transaction did not end in time.",
  );
}

function isLogged(write: Write): write is { kind: "insert"; collection: Collection; row: Row } {
  return write.kind === "insert" && positionColumnOf(write.collection) !== undefined;
}

/** Who comes while another one is at it waits. */
class Turns {
  readonly wrote: (writes: readonly Write[]) => void;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  /** `closed` to who comes, `over` also to who waits. */
  #state: "open" | "closed" | "over" = "open";

  constructor(wrote: (writes: readonly Write[]) => void = () => {}) {
    this.wrote = wrote;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= mostWaiting) {
      throw new TidingsError(
        "overloaded",
        "Too many commands wait in one transaction. Await them as you go.",
      );
    }
    if (this.#state !== "open") throw over();
    this.#waiting++;
    const turn = this.#last.then(() => {
      if (this.#state === "over") throw over();
      return work();
    });
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  /** Who comes now comes too late; who waits has its turn yet. */
  close(): void {
    if (this.#state === "open") this.#state = "closed";
  }

  async idle(): Promise<void> {
    while (this.#waiting > 0) await this.#last;
  }

  async end(): Promise<void> {
    this.#state = "over";
    await this.idle();
  }
}

function over(): TidingsError {
  return new TidingsError("invalid_option", "tx: this transaction is over.");
}
