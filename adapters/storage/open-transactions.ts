import { AsyncLocalStorage } from "node:async_hooks";
import { TidingsError } from "../../src/kernel/index.ts";

/**
 * The open transactions of `engine.transaction`. Recognizes their handles, and calls that come from
 * inside them.
 */
export class OpenTransactions {
  readonly #handles = new WeakSet();
  /** The transaction that the current call comes from. */
  readonly #current = new AsyncLocalStorage<{ isOpen: boolean }>();

  /** Runs the body of a transaction. The transaction counts as open until the body has ended. */
  async run<Handle extends object, T>(
    handle: Handle,
    body: (handle: Handle) => Promise<T>,
  ): Promise<T> {
    const transaction = { isOpen: true };
    this.#handles.add(handle);
    try {
      return await this.#current.run(transaction, body, handle);
    } finally {
      transaction.isOpen = false;
      this.#handles.delete(handle);
    }
  }

  /** Whether a value is the handle of an open transaction. */
  has(handle: unknown): boolean {
    return typeof handle === "object" && handle !== null && this.#handles.has(handle);
  }

  /** Whether the current call comes from inside the body of an open transaction. */
  isInside(): boolean {
    return this.#current.getStore()?.isOpen === true;
  }
}

/** The error for a transaction that ended before its function returned. */
export function endedEarly(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "transaction: the transaction ended before your function returned, so it is unknown what was " +
      "committed. Your function ran COMMIT, ROLLBACK or, on PostgreSQL, RESET ALL, closed the " +
      "handle, or ignored an error that rolled back. Leave COMMIT and ROLLBACK to the engine, " +
      "leave the handle open, and let errors through.",
  );
}
