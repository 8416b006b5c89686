/** The options with which a command names its database. */
import { UsageError } from "../failures.ts";
import type { Database } from "./database.ts";
import { postgresDatabase } from "./postgres.ts";
import { defaultFile, sqliteDatabase } from "./sqlite.ts";

/** The options that name a database. */
export const databaseOptions = {
  file: { type: "string" },
  database: { type: "string" },
  schema: { type: "string" },
} as const;

export const databaseUsage: readonly string[] = [
  `  --file PATH       the SQLite file (default: ${defaultFile})`,
  "  --database URL    a PostgreSQL database instead, such as postgres://user@host/name",
  "  --schema NAME     the PostgreSQL schema of the tables (default: public)",
];

/** The values of the options that name a database. */
export interface DatabaseChoice {
  /** The value of `--file`. */
  readonly file?: string | undefined;
  /** The value of `--database`. */
  readonly database?: string | undefined;
  /** The value of `--schema`. */
  readonly schema?: string | undefined;
}

/**
 * Finds the database that the options name.
 * @throws UsageError when the options contradict each other, and Failure when the database cannot
 *   be used
 */
export function chooseDatabase(
  { file, database, schema }: DatabaseChoice,
  { usage, mayCreate }: { readonly usage: string; readonly mayCreate: boolean },
): Database {
  if (database === undefined) {
    if (schema !== undefined) throw new UsageError("--schema needs --database.", usage);
    if (file === "") throw new UsageError("--file needs a value.", usage);
    return sqliteDatabase(file ?? defaultFile, { mayCreate });
  }
  if (file !== undefined) throw new UsageError("Give either --file or --database.", usage);
  return postgresDatabase(database, schema, usage);
}
