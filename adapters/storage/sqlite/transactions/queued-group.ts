import type { Access, Group, Lookup, Row, Write } from "../../../../src/ports/index.ts";
import type { WriteLock } from "./write-lock.ts";

/**
 * A group that waits for the process's write lock in one queue with the transactions of
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
