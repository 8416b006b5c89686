import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The open transactions of `engine.transaction`. Recognizes their handles, and calls that come from
 * inside them.
 */
export class OpenTransactions {
  readonly #handles = new WeakSet();
  /** The transaction that the current call comes from. */
  readonly #current = new AsyncLocalStorage<{ isOpen: boolean }>();

  /** Runs the work of a transaction. The transaction counts as open until the work has ended. */
  async run<Handle extends object, T>(
    handle: Handle,
    work: (handle: Handle) => Promise<T>,
  ): Promise<T> {
    const transaction = { isOpen: true };
    this.#handles.add(handle);
    try {
      return await this.#current.run(transaction, work, handle);
    } finally {
      transaction.isOpen = false;
      this.#handles.delete(handle);
    }
  }

  /** Whether a value is the handle of an open transaction. */
  has(handle: unknown): boolean {
    return typeof handle === "object" && handle !== null && this.#handles.has(handle);
  }

  /** Whether the current call comes from inside the work of an open transaction. */
  isInside(): boolean {
    return this.#current.getStore()?.isOpen === true;
  }
}
