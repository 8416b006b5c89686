import { TidingsError } from "../../src/kernel/index.ts";

/** The resources of an open storage, and how they are closed. */
export interface Closable {
  /** Resolves when no work is in progress that closing would interrupt. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The resources of a storage that several engines may open. The first engine opens them, and the
 * last one to close closes them.
 */
export class RefCounted<T extends Closable> {
  #count = 0;
  #opening: Promise<void> | undefined;
  #opened: T | undefined;

  /** @throws TidingsError `storage_unavailable` while the storage is not open */
  get(): T {
    if (this.#opened === undefined) {
      throw new TidingsError("storage_unavailable", "The storage is not open.");
    }
    return this.#opened;
  }

  /** Whether several engines have the storage open. */
  get isShared(): boolean {
    return this.#count > 1;
  }

  /** Concurrent calls share one `connect`. After a failure, the next call tries again. */
  async open(connect: () => Promise<T>): Promise<void> {
    this.#count++;
    this.#opening ??= this.#connect(connect);
    try {
      await this.#opening;
    } catch (error) {
      // `close` may have been called meanwhile.
      if (this.#count > 0) this.#count--;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#count > 0) this.#count--;
    if (this.#count > 0) return;
    await this.#opening?.catch(() => {});
    await this.#opened?.idle();
    // Another engine may have opened the storage during the wait.
    if (this.#count > 0) return;
    const closing = this.#opened;
    // Reset before the close, so that an engine that opens the storage meanwhile connects again.
    this.#opened = undefined;
    this.#opening = undefined;
    await closing?.close();
  }

  async #connect(connect: () => Promise<T>): Promise<void> {
    try {
      this.#opened = await connect();
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
