import { AsyncLocalStorage } from "node:async_hooks";
import { TidingsError } from "../../src/kernel/index.ts";

/** Recognizes calls that come from inside a transaction which the storage opened. */
export class OpenTransactions {
  /** The transaction that the current call comes from. */
  readonly #current = new AsyncLocalStorage<{ isOpen: boolean }>();

  /** Runs the body of a transaction. The transaction counts as open until the body has ended. */
  async run<T>(body: () => Promise<T>): Promise<T> {
    const transaction = { isOpen: true };
    try {
      return await this.#current.run(transaction, body);
    } finally {
      transaction.isOpen = false;
    }
  }

  /** Whether the current call comes from inside the body of an open transaction. */
  isInside(): boolean {
    return this.#current.getStore()?.isOpen === true;
  }
}

/** The error for a transaction that is not open any more when its function returns. */
export function endedEarly(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "transaction: the transaction ended before your function returned, so it is unknown what was " +
      "committed. Your function ran COMMIT or ROLLBACK, or ignored an error that rolled back. " +
      "Leave COMMIT and ROLLBACK to the engine, and let errors through.",
  );
}
