/** The database that a command works on: a SQLite file, or a PostgreSQL database. */
import type { StoragePort } from "../../../src/ports/index.ts";
import { systemCode } from "../failures.ts";

/** A database that a command works on. */
export interface Database {
  /** The path of the file, or the URL without its password. */
  readonly name: string;
  /** The path of the SQLite file. Undefined for PostgreSQL. */
  readonly file: string | undefined;
  /** Returns a new storage for an engine. Without `migrate`, it refuses an older database. */
  storage(options: { readonly migrate: boolean }): StoragePort;
  /** Returns the name of one of the engine's tables for statements. */
  table(name: string): string;
  /** Runs a statement that only reads, and returns its rows as arrays. */
  query(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** Closes what `query` and the storages use. Call it after the engine has stopped. */
  close(): Promise<void>;
}

/** Returns the schema version of a database. 0 if the engine has no tables there. */
export async function schemaVersion(database: Database): Promise<number> {
  try {
    const [row] = await database.query(`SELECT version FROM ${database.table("schema")}`);
    return Number(row?.[0] ?? 0);
  } catch (error) {
    if (isMissingTable(error)) return 0;
    throw error;
  }
}

/** PostgreSQL has a code for it, because its messages are in the language of the server. */
const isMissingTable = (error: unknown): boolean =>
  systemCode(error) === "42P01" || (error instanceof Error && /no such table/.test(error.message));
