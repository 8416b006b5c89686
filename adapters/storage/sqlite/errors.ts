import { existsSync, opendirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { memberOf, TidingsError } from "../../../src/kernel/index.ts";
import { StorageConflict, StorageRefusal } from "../../../src/ports/index.ts";

/**
 * A result code of SQLite (https://sqlite.org/rescode.html): the primary code, such as
 * `CONSTRAINT`, and the detail that an extended code adds, such as `UNIQUE`.
 */
interface ResultCode {
  readonly primary: string;
  readonly detail: string;
}

const primaryCodes: Readonly<Record<number, string>> = {
  3: "PERM",
  5: "BUSY",
  6: "LOCKED",
  7: "NOMEM",
  8: "READONLY",
  10: "IOERR",
  11: "CORRUPT",
  13: "FULL",
  14: "CANTOPEN",
  15: "PROTOCOL",
  18: "TOOBIG",
  19: "CONSTRAINT",
  20: "MISMATCH",
  25: "RANGE",
  26: "NOTADB",
};

const details: Readonly<Record<number, string>> = {
  517: "SNAPSHOT",
  1555: "PRIMARYKEY",
  2067: "UNIQUE",
  2579: "ROWID",
};

function resultCode(error: unknown): ResultCode | undefined {
  // Not `instanceof Error`: Jest has its own `Error`, and Node's errors are not instances of it.
  const errcode = memberOf(error, "errcode");
  if (typeof errcode !== "number") return undefined;
  return { primary: primaryCodes[errcode & 0xff] ?? "ERROR", detail: details[errcode] ?? "" };
}

/** Whether another connection is writing. Waiting helps. */
export function isBusy(error: unknown): boolean {
  return resultCode(error)?.primary === "BUSY";
}

/**
 * Whether another connection has written since this transaction's first read. Only a new
 * transaction helps.
 */
export function isStale(error: unknown): boolean {
  const code = resultCode(error);
  return code?.primary === "BUSY" && code.detail === "SNAPSHOT";
}

/** Whether a handle was closed, or its transaction has ended and with it the savepoint. */
export function isEnded(error: unknown): boolean {
  return (
    memberOf(error, "code") === "ERR_INVALID_STATE" ||
    String(memberOf(error, "message")).startsWith("no such savepoint")
  );
}

const locked =
  "The database is locked: another connection has held its write lock for too long. If the same " +
  "code fails at every call, it has a transaction open on a handle of its own and waits for a " +
  "command that does not join it: pass the handle to the command as `tx`. If it fails only " +
  "sometimes, another process writes for too long: repeat the call.";

const unavailable: Readonly<Record<string, string>> = {
  PERM: "The process may not access the database file.",
  BUSY: locked,
  LOCKED: locked,
  NOMEM: "SQLite is out of memory.",
  READONLY: "The database is read-only: the process cannot write to its file or directory.",
  IOERR: "The disk failed to read or write the database.",
  FULL: "The disk is full, or the database has reached its maximum size.",
  PROTOCOL: locked,
  NOTADB: "The file is not a SQLite database.",
};

/** Damage to the files of a database, in words. */
export interface Damage {
  readonly message: string;
  /** The message without the path of a file, for callers over HTTP. */
  readonly detail: string;
}

/** What to do about a damaged file. */
export const repairAdvice =
  "Restore it from a backup, or recover what is readable with the command .recover of the " +
  "sqlite3 shell.";

/** Returns the error for damage, which a retry does not solve. */
export function damagedError({ message, detail }: Damage, cause?: unknown): TidingsError {
  return new TidingsError("storage_damaged", message, { detail, cause });
}

/** Converts an error of SQLite to the error that the storage port specifies. */
export function toStorageError(error: unknown, file: string): unknown {
  const code = resultCode(error);
  if (code === undefined) return error;
  const { primary, detail } = code;
  if (primary === "CONSTRAINT" && ["UNIQUE", "PRIMARYKEY", "ROWID"].includes(detail)) {
    return new StorageConflict("another row has this unique key", { cause: error });
  }
  if (["CONSTRAINT", "TOOBIG", "MISMATCH", "RANGE"].includes(primary)) {
    return new StorageRefusal("SQLite refused a row: see the cause", { cause: error });
  }
  if (primary === "CORRUPT") {
    const what = `is damaged: SQLite cannot read a page. ${repairAdvice}`;
    const message = `The database file ${file} ${what}`;
    return damagedError({ message, detail: `The database file ${what}` }, error);
  }
  const hasNoDescriptor = primary === "CANTOPEN" && lacksDescriptors();
  const message =
    primary === "CANTOPEN"
      ? `The database file cannot be opened: ${hasNoDescriptor ? noDescriptor : whyNotOpened(file)}`
      : (unavailable[primary] ?? "SQLite reported an error; see the cause.");
  const isPermanent = ["NOTADB", "CANTOPEN"].includes(primary) && !hasNoDescriptor;
  return unavailableError(message, file, {
    cause: error,
    ...(isPermanent ? { retryable: false } : {}),
  });
}

const noDescriptor = "the process or the system has no file descriptor left.";

/**
 * Whether no file can be opened now. SQLite does not report why it cannot open a file, and opening
 * the database file itself would release SQLite's locks on it.
 */
function lacksDescriptors(): boolean {
  try {
    opendirSync("/").closeSync();
    return false;
  } catch (error) {
    return ["EMFILE", "ENFILE"].includes(String(memberOf(error, "code")));
  }
}

function whyNotOpened(file: string): string {
  try {
    const path = file.startsWith("file:") ? fileURLToPath(file) : file;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      return "its path is that of a directory.";
    }
    if (!existsSync(dirname(path))) return "its directory does not exist. Create it first.";
  } catch {
    // The process may not even ask about the file.
  }
  return "the process may not access it or its directory.";
}

/** Returns the error `storage_unavailable` with the path of the database file. */
export function unavailableError(
  message: string,
  file: string,
  facts: { readonly cause?: unknown; readonly retryable?: boolean } = {},
): TidingsError {
  const text = `${message} The file is ${file}.`;
  return new TidingsError("storage_unavailable", text, { ...facts, detail: message });
}
