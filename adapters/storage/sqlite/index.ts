import type { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { SqliteStorage } from "./sqlite-storage.ts";

export type { SqliteHandle, SqliteStatement } from "./handle.ts";

export interface SqliteOptions {
  /** Path of the database file; made when it isn't there. Its directory must be. */
  readonly file: string;
  /** Whether opening brings an empty or older database up to date. Default true; else it is refused. */
  readonly migrate?: boolean;
}

/**
 * The storage in a SQLite file, on `node:sqlite` (Node 22.13 or later). WAL, and a commit is on disk before it is
 * answered. Several processes may work on one file. A host's transaction is joined through its own `node:sqlite` or
 * better-sqlite3 handle.
 * @throws TidingsError `invalid_option`
 */
export function sqlite(options: SqliteOptions): StoragePort<DatabaseSync> {
  const { file, migrate = true } = options;
  if (typeof file !== "string" || file === "") {
    throw new TidingsError(
      "invalid_option",
      `sqlite: file: expected the path of a database file, got ${typeof file}`,
    );
  }
  if (file.includes(":memory:") || file.includes("mode=memory")) {
    throw new TidingsError(
      "invalid_option",
      "sqlite: file: expected a file, got a database in memory, which only one connection sees. Use memory() instead.",
    );
  }
  if (typeof migrate !== "boolean") {
    throw new TidingsError(
      "invalid_option",
      `sqlite: migrate: expected true or false, got ${typeof migrate}`,
    );
  }
  return new SqliteStorage({ file, migrate });
}
