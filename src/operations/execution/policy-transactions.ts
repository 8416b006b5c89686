import { AsyncLocalStorage } from "node:async_hooks";
import { TidingsError } from "../../kernel/index.ts";
import type { Clock } from "../../ports/index.ts";
import { background, isContended, isStorageFailure, type Store } from "../../store/index.ts";

interface PolicyTransactionsOptions {
  readonly store: Pick<Store, "transaction" | "yieldToEventLoop">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Maximum number of open transactions. */
  readonly transactions: number;
  /** Aborts at the deadline of a stop. Commands that still wait then fail. */
  readonly stopDeadline: AbortSignal;
}

/** Runs a command in the transaction of a handle. */
type Run<T> = (handle: object) => Promise<T>;

/** A command that waits for its commit. */
interface WaitingCommand {
  readonly run: Run<unknown>;
  /** Calls a function in the asynchronous context of the command. */
  readonly inContext: <R>(work: () => R) => R;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** How many of its transactions met a conflict. */
  conflicts: number;
  /** Whether its transaction has no other commands. */
  isAlone: boolean;
}

/** A command whose transactions met so many conflicts fails with `storage_contended`. */
const maxConflicts = 8;
/** Maximum number of commands that wait. */
const maxWaiting = 10_000;
/** Maximum number of commands in a transaction. */
const maxCommands = 128;
/** A transaction takes no more commands after this time, in milliseconds. */
const maxMs = 20;

/**
 * The transactions of commands whose policies query tables. If the storage runs one transaction at
 * a time, commands that wait share one, and so share one flush to the disk. They run in it one
 * after the other, each with its policies, which see what the earlier commands wrote. If it runs
 * several at a time, each command has its own: two that lock the same rows in different order would
 * wait for each other.
 */
export class PolicyTransactions {
  readonly #options: PolicyTransactionsOptions;
  readonly #waiting: WaitingCommand[] = [];
  #open = 0;

  constructor(options: PolicyTransactionsOptions) {
    this.#options = options;
  }

  /** Runs a command. Resolves when it is committed. The command may run several times. */
  run<T>(run: Run<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length >= maxWaiting) throw overloaded();
      this.#waiting.push({
        run,
        inContext: AsyncLocalStorage.snapshot(),
        resolve: (value) => resolve(value as T),
        reject,
        conflicts: 0,
        isAlone: this.#options.transactions > 1,
      });
      if (this.#open < this.#options.transactions) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    const { stopDeadline } = this.#options;
    this.#open++;
    for (let first = this.#waiting.shift(); first; first = this.#waiting.shift()) {
      if (stopDeadline.aborted) {
        first.reject(stopDeadline.reason);
      } else {
        // The context belongs to the call of the first command, which lasts until the commit.
        const again = await first.inContext(() => this.#runTransaction(first));
        this.#waiting.unshift(...again);
      }
    }
    this.#open--;
  }

  /**
   * Runs a command, and commands that wait behind it, in one transaction. Returns those that must
   * run again, because the transaction was rolled back. Never rejects. Call it in the asynchronous
   * context of the first command: in it, the storage notes that calls come from inside a
   * transaction.
   */
  async #runTransaction(first: WaitingCommand): Promise<readonly WaitingCommand[]> {
    const { store, clock } = this.#options;
    const taken = [first];
    const settlements: (() => void)[] = [];
    let running: WaitingCommand | undefined;
    try {
      await store.transaction(async (handle) => {
        const end = clock.monotonic() + maxMs;
        const takesMore = (): boolean => clock.monotonic() < end;
        for (running = first; running; running = await this.#takeNext(taken, takesMore)) {
          const command = running;
          const run = (): Promise<() => void> => settlementOf(command, handle);
          settlements.push(await (command === first ? run() : command.inContext(run)));
        }
      }, background);
    } catch (error) {
      return this.#afterFailure(taken, running, error);
    }
    // Only now, since a result may depend on what an earlier command wrote.
    for (const settle of settlements) settle();
    return [];
  }

  /**
   * Takes the next command of a transaction. Undefined if the transaction takes no more, or there
   * is none that may share it, not even one that is about to arrive.
   */
  async #takeNext(
    taken: WaitingCommand[],
    takesMore: () => boolean,
  ): Promise<WaitingCommand | undefined> {
    if (taken[0]?.isAlone === true || taken.length >= maxCommands || !takesMore()) return undefined;
    if (this.#waiting.length === 0) await this.#options.store.yieldToEventLoop();
    if (this.#waiting[0]?.isAlone !== false) return undefined;
    const next = this.#waiting.shift();
    if (next !== undefined) taken.push(next);
    return next;
  }

  /**
   * Rejects the commands of a failed transaction that cannot succeed, and returns the others. The
   * one that was running runs again alone. If the commit itself failed, any of them may be the
   * cause, so each runs again alone.
   */
  #afterFailure(
    commands: readonly WaitingCommand[],
    running: WaitingCommand | undefined,
    error: unknown,
  ): readonly WaitingCommand[] {
    if (isStorageFailure(error)) return rejected(commands, error);
    if (commands.length > 1) {
      for (const command of running === undefined ? commands : [running]) command.isAlone = true;
      return commands;
    }
    const [only] = commands;
    const isTried = only !== undefined && isContended(error) && ++only.conflicts < maxConflicts;
    return isTried ? commands : rejected(commands, error);
  }
}

/** Runs a command. Returns a function to call after the commit: it tells the caller the result. */
async function settlementOf(
  { run, resolve, reject }: WaitingCommand,
  handle: object,
): Promise<() => void> {
  try {
    const value = await run(handle);
    return () => resolve(value);
  } catch (error) {
    // A refusal, such as a denial, has written nothing. After any other error the transaction may
    // be unusable, or a policy may still be using it.
    if (error instanceof TidingsError && !error.retryable) return () => reject(error);
    throw error;
  }
}

function rejected(commands: readonly WaitingCommand[], error: unknown): readonly WaitingCommand[] {
  for (const { reject } of commands) reject(error);
  return [];
}

function overloaded(): TidingsError {
  return new TidingsError(
    "overloaded",
    "Too many messages are waiting for policies. Try again later.",
  );
}
