import type { TidingsError } from "../../../../src/kernel/index.ts";
import type { Access, Group, Lookup, Row, Write } from "../../../../src/ports/index.ts";
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

/**
 * A group that waits for the process's write lock in the same queue as the transactions of
 * `engine.transaction`. If it only tried for the file's lock again and again, it might never get
 * it. A shared group holds the lock during its commit: while the commit waits for another process,
 * the transaction of an exclusive group must not begin on the same connection. An exclusive group
 * holds it from its first read, which takes the file's lock.
 */
export class QueuedGroup implements Group {
  readonly #group: Group;
  readonly #access: Access;
  readonly #lock: WriteLock;
  /** Resolves with the function that releases the lock. Undefined while it is not requested. */
  #acquired: Promise<() => void> | undefined;
  #hasEnded = false;

  constructor(group: Group, access: Access, lock: WriteLock) {
    this.#group = group;
    this.#access = access;
    this.#lock = lock;
  }

  read(
    lookups: readonly Lookup[],
  ): readonly (readonly Row[])[] | Promise<readonly (readonly Row[])[]> {
    // Nothing would release a lock that is acquired after the end. The group refuses such a read.
    return this.#access === "exclusive" && !this.#hasEnded
      ? this.#locked(() => this.#group.read(lookups))
      : this.#group.read(lookups);
  }

  commit(writes: readonly Write[]): void | Promise<void> {
    this.#hasEnded = true;
    const release = this.#acquired === undefined ? this.#lock.tryAcquire() : undefined;
    return release === undefined ? this.#commitLocked(writes) : this.#commitAtOnce(writes, release);
  }

  abort(): void | Promise<void> {
    this.#hasEnded = true;
    return this.#acquired === undefined ? this.#group.abort() : this.#abortLocked();
  }

  async #locked<T>(work: () => T | Promise<T>): Promise<T> {
    await (this.#acquired ??= this.#lock.acquire());
    return work();
  }

  #commitAtOnce(writes: readonly Write[], release: () => void): void | Promise<void> {
    let committing: void | Promise<void> = undefined;
    try {
      committing = this.#group.commit(writes);
    } finally {
      if (committing === undefined) release();
    }
    return committing?.finally(release);
  }

  async #commitLocked(writes: readonly Write[]): Promise<void> {
    try {
      await this.#locked(() => this.#group.commit(writes));
    } catch (error) {
      // If the lock could not be acquired, the group is still open.
      await this.#group.abort();
      throw error;
    } finally {
      await this.#release();
    }
  }

  async #abortLocked(): Promise<void> {
    await this.#group.abort();
    await this.#release();
  }

  async #release(): Promise<void> {
    const held = this.#acquired;
    this.#acquired = undefined;
    (await held?.catch(() => undefined))?.();
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
