import { TidingsError } from "../../src/kernel/errors.ts";

/** What is there while a storage is open. */
export interface Opened {
  /** Resolves when nothing is under way that closing would cut short. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** A storage that several engines may open: the first to come opens it, and the last to close it does. */
export class Shared<T extends Opened> {
  #openers = 0;
  #opening: Promise<void> | undefined;
  #opened: T | undefined;

  /** @throws TidingsError `storage_unavailable` while it is not open */
  get(): T {
    if (this.#opened === undefined) {
      throw new TidingsError("storage_unavailable", "The storage is not open.");
    }
    return this.#opened;
  }

  /** Those that come while `connect` is at it share its outcome; after a failure the next to come tries again. */
  async open(connect: () => Promise<T>): Promise<void> {
    this.#openers++;
    this.#opening ??= this.#connect(connect);
    try {
      await this.#opening;
    } catch (error) {
      this.#openers--;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#openers > 0) this.#openers--;
    if (this.#openers > 0) return;
    await this.#opening?.catch(() => {});
    await this.#opened?.idle();
    // Another may have come meanwhile.
    if (this.#openers > 0) return;
    const closing = this.#opened;
    // Who opens it from here on opens it anew.
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
