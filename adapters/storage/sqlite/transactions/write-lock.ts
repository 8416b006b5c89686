import type { TidingsError } from "../../../../src/kernel/index.ts";
import { maxLockWaitMs } from "../connections/when-unlocked.ts";
import { unavailableError } from "../errors.ts";

interface Waiter {
  readonly resolve: (release: () => void) => void;
  readonly reject: (error: TidingsError) => void;
}

/**
 * A lock within this process, granted in order of request. If its holder keeps it too long, all
 * waiting requests and all new ones are refused until it is released: the holder may itself be
 * waiting for one of them.
 */
export class WriteLock {
  readonly #file: string;
  readonly #waiting: Waiter[] = [];
  #isHeld = false;
  #isOverdue = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the lock if it is free. Returns a function that releases it, to be called once. */
  tryAcquire(): (() => void) | undefined {
    return this.#isHeld ? undefined : this.#take();
  }

  /**
   * Returns a function that releases the lock, to be called once.
   * @throws TidingsError `storage_unavailable` when the holder keeps the lock too long
   */
  async acquire(): Promise<() => void> {
    if (this.#isOverdue) throw heldTooLong(this.#file);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#isHeld) this.#grantNext();
    });
  }

  #grantNext(): void {
    const next = this.#waiting.shift();
    this.#isOverdue = false;
    this.#isHeld = false;
    next?.resolve(this.#take());
  }

  #take(): () => void {
    this.#isHeld = true;
    // The time counts from the grant, not from the request. Otherwise requests that were made one
    // after the other would be refused one after the other.
    const timer = setTimeout(() => {
      this.#isOverdue = true;
      for (const { reject } of this.#waiting.splice(0)) reject(heldTooLong(this.#file));
    }, maxLockWaitMs);
    return () => {
      clearTimeout(timer);
      this.#grantNext();
    };
  }
}

function heldTooLong(file: string): TidingsError {
  return unavailableError(
    `Another transaction of this process has held the database's write lock for more than ` +
      `${maxLockWaitMs / 1_000} s. If the same code fails at every call, it waits inside a ` +
      "transaction for a command that does not join it: pass `tx` to the command. If it fails " +
      "only sometimes, the other transaction is slow: repeat the call, and shorten the " +
      "transaction.",
    file,
  );
}
