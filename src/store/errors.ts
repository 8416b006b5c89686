/** Errors of commits, as callers get them. */
import { TidingsError } from "../kernel/index.ts";
import type { StorageConflict, StorageRefusal } from "../ports/index.ts";

/** Whether the storage itself failed, whatever the command was. */
export function isStorageFailure(error: unknown): error is TidingsError {
  return (
    error instanceof TidingsError &&
    (error.code === "storage_unavailable" || error.code === "storage_damaged")
  );
}

/** For a command that met as many conflicts as it may. One that may meet none is part of a transaction. */
export function contended(cause: StorageConflict, maxConflicts: number): TidingsError {
  const message =
    maxConflicts === 1
      ? "Another command changed the same rows meanwhile. Run the whole transaction again."
      : "Other commands kept changing the same rows. Nothing was written. Retry later.";
  return new TidingsError("storage_contended", message, { cause });
}

/** For a command whose row the database refuses permanently. */
export function refused(cause: StorageRefusal): TidingsError {
  return new TidingsError(
    "internal",
    "The storage refused a row of this command: see the cause. Nothing was written.",
    { cause, retryable: false },
  );
}
