import { TidingsError } from "../../../src/kernel/errors.ts";
import { StorageConflict, StorageRefusal } from "../../../src/ports/storage.ts";

/** What a guard that fails raises: the text is the number that PostgreSQL is made to read (`guardSql`). */
export const conflictMark = "tidings conflict:";

/** There is no such prepared statement. */
export const unprepared = "26000";

/** A SQLSTATE (manual, "PostgreSQL Error Codes"); undefined of what did not come from the server. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !isSystemCode(code)
    ? code
    : undefined;
}

/** Node's own codes, some of which have five letters too: no class of SQLSTATEs begins like them. */
const isSystemCode = (code: string): boolean => code.startsWith("E");

/** The connection is gone, or can't be trusted: what did not come from the server, and what ends a session. */
export function isLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith("08") || /^(57P0[1-5]|25P0[34])$/.test(state);
}

/** The host's rules in the database, and what no column takes: constraints, triggers, sizes. */
const refused = /^(22|23|44|54|P0001)/;
/** A unique key; two that waited for each other; a lock that another transaction keeps. */
const conflicting = /^(23505|23P01|40001|40P01|55P03)$/;

const unavailable: readonly (readonly [state: RegExp, message: string])[] = [
  [/^25006/, "The database is read-only: it is a standby, or is set to take no writes."],
  [/^25P0[34]|^57P05/, "The PostgreSQL server ended a transaction that took too long."],
  [
    /^28|^3D/,
    "The PostgreSQL server refused the connection: the user, the password or the database is wrong.",
  ],
  [
    /^42501/,
    "The user may not do that in the database: it lacks a privilege on the schema or its tables.",
  ],
  [
    /^(42P01|42703|3F000)/,
    "The database lacks tables or columns that the code needs. Migrate it first.",
  ],
  [/^53100/, "The disk of the PostgreSQL server is full."],
  [/^53200/, "The PostgreSQL server is out of memory."],
  [/^53300/, "The PostgreSQL server has too many connections."],
  [
    /^57014/,
    "The PostgreSQL server canceled a statement: it took longer than its time-out, or somebody ended it.",
  ],
  [/^57P0/, "The PostgreSQL server is shutting down, starting up, or ended the connection."],
  [/^08/, "The connection to the PostgreSQL server was lost."],
];

/** What the port promises to throw, for what the driver threw. */
export function translated(error: unknown): unknown {
  if (
    error instanceof TidingsError ||
    error instanceof StorageConflict ||
    error instanceof StorageRefusal
  ) {
    return error;
  }
  const state = sqlState(error);
  if (state === undefined) {
    return new TidingsError(
      "storage_unavailable",
      "The connection to the PostgreSQL server failed or was lost.",
      {
        cause: error,
      },
    );
  }
  if (error instanceof Error && state === "22P02" && error.message.includes(conflictMark)) {
    return new StorageConflict("a row was written meanwhile, or is gone", { cause: error });
  }
  if (conflicting.test(state)) return new StorageConflict(conflictOf(state), { cause: error });
  if (refused.test(state)) {
    return new StorageRefusal("PostgreSQL refused a value", { cause: error });
  }
  const [, message = "PostgreSQL failed: the cause says why."] =
    unavailable.find(([states]) => states.test(state)) ?? [];
  return new TidingsError("storage_unavailable", message, { cause: error });
}

function conflictOf(state: string): string {
  if (state === "23505") return "a unique key is taken";
  return state === "55P03"
    ? "another transaction keeps a row"
    : "another transaction was in the way";
}
