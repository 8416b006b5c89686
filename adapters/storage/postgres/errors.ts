import { TidingsError } from "../../../src/kernel/index.ts";
import { StorageConflict, StorageRefusal } from "../../../src/ports/index.ts";

/**
 * Marks the error of a failed version guard. The guard makes PostgreSQL read this text as a number
 * (`writes/writes.ts`), and the error quotes the text.
 */
export const conflictMark = "tidings conflict:";

/** Marks the error of `checkTransaction` (`transactions/settings.ts`), in the same way. */
export const endedMark = "tidings ended:";

/** The SQLSTATE for an unknown prepared statement. */
export const unknownStatement = "26000";

/** The SQLSTATE for a statement that needs an open transaction. */
export const noTransaction = "25P01";

/** The SQLSTATE for a statement in a transaction that has failed. */
export const failedTransaction = "25P02";

/**
 * Returns an error's SQLSTATE (manual, "PostgreSQL Error Codes"), or undefined if it did not come
 * from the server.
 */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !isSystemCode(code)
    ? code
    : undefined;
}

/**
 * Whether a code is one of Node's, such as EPIPE. Some have five letters too, but no SQLSTATE
 * begins with E.
 */
const isSystemCode = (code: string): boolean => code.startsWith("E");

/**
 * Whether an error ends the connection or leaves it unusable: the error did not come from the
 * server, or it ends the session.
 */
export function endsConnection(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith("08") || /^(57P0[1-5]|25P0[34])$/.test(state);
}

/** Whether the session is read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === "25006";
}

/** Whether `checkTransaction` did not find the mark. */
export function isEnded(error: unknown): boolean {
  return error instanceof Error && sqlState(error) === "22P02" && error.message.includes(endedMark);
}

/** The error for a statement in a transaction of the storage that has failed. */
export function ignoredFailure(): TidingsError {
  return new TidingsError(
    "invalid_option",
    "transaction: a statement failed, and your function ignored its error. PostgreSQL commits " +
      "nothing of such a transaction. Let errors through, or set a savepoint before a statement " +
      "that may fail, and roll back to it.",
  );
}

/** The SQLSTATE for a lock that another transaction has held for the whole lock timeout. */
const lockNotAvailable = "55P03";

/** Errors that a retry will not solve: constraints, triggers, sizes. */
const refusalStates = /^(22|23|44|54|P0001)/;
/** A unique key, a deadlock, or a lock that another transaction holds. */
const conflictStates = /^(23505|23P01|40001|40P01|55P03)$/;

/**
 * Whether a conflict lasts for as long as the transaction in which it happened: a deadlock with a
 * transaction that waits for its rows, rows that another transaction has held for the whole lock
 * timeout, or a snapshot of a transaction at a higher isolation level that is too old.
 */
export function lastsForTransaction(error: unknown): boolean {
  return /^(40001|40P01|55P03)$/.test(sqlState(error) ?? "");
}

const unavailableMessages: readonly (readonly [state: RegExp, message: string])[] = [
  [/^25006/, "The database is read-only: it is a standby, or is set to take no writes."],
  [/^25P0[34]|^57P05/, "The PostgreSQL server ended a transaction that took too long."],
  [
    /^26000/,
    "The PostgreSQL server does not know a prepared statement of this connection. A pooler such " +
      "as PgBouncer has to run in session mode: better connect to the server itself.",
  ],
  [/^28P01/, "The PostgreSQL server refused the connection: the user or the password is wrong."],
  [
    /^28/,
    "The PostgreSQL server refused the connection: the user does not exist, or may not connect " +
      "from here to this database. Some servers demand TLS, the option `ssl` of the pool.",
  ],
  [/^3D/, "The PostgreSQL server refused the connection: the database does not exist."],
  [/^42501/, "The database user lacks a privilege on the schema or its tables."],
  [
    /^(42P01|42703|3F000)/,
    "The database lacks tables or columns that this version of tidings needs. Run the migration " +
      "first.",
  ],
  [/^53100/, "The disk of the PostgreSQL server is full."],
  [/^53200/, "The PostgreSQL server is out of memory."],
  [/^53300/, "The PostgreSQL server has too many connections."],
  [
    /^57014/,
    "The PostgreSQL server canceled a statement: it took longer than its timeout, or an " +
      "administrator canceled it.",
  ],
  [/^57P0/, "The PostgreSQL server is shutting down, starting up, or ended the connection."],
  [/^08/, "The connection to the PostgreSQL server was lost."],
];

/** Errors that a retry will not solve: the user, its privileges, the database, the schema. */
const permanentStates = /^(28|3D|42501|42P01|42703|3F000)/;

/**
 * Converts an error of the driver to the error that the storage port specifies. `server` describes
 * the server and the database.
 */
export function toStorageError(error: unknown, server: string): unknown {
  if (
    error instanceof TidingsError ||
    error instanceof StorageConflict ||
    error instanceof StorageRefusal
  ) {
    return error;
  }
  const state = sqlState(error);
  if (state === undefined) {
    const message = "The connection to the PostgreSQL server failed or was lost.";
    return unavailableError(message, server, { cause: error });
  }
  if (error instanceof Error && state === "22P02" && error.message.includes(conflictMark)) {
    return new StorageConflict("a row was changed or deleted in the meantime", { cause: error });
  }
  if (conflictStates.test(state)) {
    return new StorageConflict(conflictMessage(state), {
      cause: error,
      isLocked: state === lockNotAvailable,
    });
  }
  if (refusalStates.test(state)) {
    return new StorageRefusal("PostgreSQL refused a row: see the cause", { cause: error });
  }
  const [, message = "PostgreSQL reported an error; see the cause."] =
    unavailableMessages.find(([states]) => states.test(state)) ?? [];
  const permanent = permanentStates.test(state) ? { retryable: false } : {};
  return unavailableError(message, server, { cause: error, ...permanent });
}

/** Throws a conflict outside a group, which nothing would rerun, as `storage_unavailable`. */
export function asUnavailable(error: unknown): never {
  if (!(error instanceof StorageConflict)) throw error;
  throw new TidingsError(
    "storage_unavailable",
    "Another transaction holds a lock that is needed here, such as one that alters a table.",
    { cause: error },
  );
}

/** Returns the error `storage_unavailable` with the description of the server. */
export function unavailableError(
  message: string,
  server: string,
  facts: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): TidingsError {
  const text = server === "" ? message : `${message} ${server}`;
  return new TidingsError("storage_unavailable", text, { ...facts, detail: message });
}

function conflictMessage(state: string): string {
  if (state === "23505") return "another row has this unique key";
  return state === lockNotAvailable
    ? "another transaction holds a lock on a row"
    : "a concurrent transaction caused a deadlock or a serialization failure";
}
