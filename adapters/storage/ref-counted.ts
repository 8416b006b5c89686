import { TidingsError } from "../../src/kernel/index.ts";
import { pause } from "./pause.ts";

/** How long calls may still take after the deadline of an engine's stop, in milliseconds. */
const maxLateMs = 2_000;

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
  /** How many of the engines have passed the deadline of their stop. */
  #late = 0;
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

  /**
   * Called at the deadline of an engine's stop. Calls `abandon`, unless `stopped` aborts in time:
   * the engine has stopped. Other engines that use the storage and need not stop yet must not meet
   * failing calls. So while there are any, this waits on.
   */
  async abandonLate(stopped: AbortSignal, abandon: () => void): Promise<void> {
    this.#late++;
    do {
      await pause(maxLateMs, stopped);
    } while (!stopped.aborted && this.#count > this.#late);
    this.#late--;
    if (!stopped.aborted) abandon();
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
