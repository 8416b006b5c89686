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

/** Whether a command gave up because other transactions changed or locked its rows. */
export function isContended(error: unknown): error is TidingsError {
  return error instanceof TidingsError && error.code === "storage_contended";
}

/** For a command that met as many conflicts as it may. */
export function contended(cause: StorageConflict): TidingsError {
  const message = "Other commands kept changing the same rows. Nothing was written. Retry later.";
  return new TidingsError("storage_contended", message, { cause });
}

/** For a command that has waited for a locked row as long as it may. */
export function locked(cause: StorageConflict | undefined): TidingsError {
  const message =
    "Another transaction has locked a row of this command for too long. Nothing was written. " +
    "Retry later.";
  return new TidingsError("storage_contended", message, { cause });
}

/** The same for a command in a transaction of the host application. */
export function contendedInside(cause: StorageConflict): TidingsError {
  const message =
    "Other transactions changed or hold the same rows. Run the whole transaction again.";
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
