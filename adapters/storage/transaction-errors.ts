/** The errors of transactions that the host application takes part in. */
import { TidingsError } from "../../src/kernel/index.ts";
import { StorageConflict, StorageRefusal } from "../../src/ports/index.ts";

/** The error for a handle that a command was given as `tx` and cannot use. */
export function invalidHandle(what: string): TidingsError {
  return new TidingsError("invalid_option", `tx: ${what}`);
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

/**
 * Returns the error of a COMMIT. `error` is the database's error, and `converted` is what the
 * storage would make of it in a group.
 */
export function commitError(error: unknown, converted: unknown): unknown {
  // The engine's own constraints are checked before, so this is one of the host application's. The
  // host application knows it from the database's error.
  const isRefused = converted instanceof StorageConflict || converted instanceof StorageRefusal;
  return isRefused ? error : converted;
}
