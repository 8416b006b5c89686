import type { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { SqliteStorage } from "./storage.ts";

export type { SqliteHandle, SqliteStatement } from "./connection.ts";

/** Options of `sqlite()`. */
export interface SqliteOptions {
  /**
   * The path of the database file. The file is created if it does not exist; its directory has to
   * exist. A database in memory is not possible: use `memory()` for one.
   */
  readonly file: string;
  /**
   * Whether opening migrates an empty or older database. The default is true. With false, opening
   * such a database fails with `storage_outdated`.
   */
  readonly migrate?: boolean;
  /**
   * How much of the database to check for damage when it is opened. `quick`, the default, reads
   * every page of a file of up to 512 MB, which takes about a second for 400 MB, and the first rows
   * of each table of a larger one. `full` reads a file of any size, and compares each index with
   * its table. It takes about 30 seconds for 1 GB, in a thread. A damaged database is refused with
   * `storage_damaged`. Neither finds changed text within a page, because SQLite has no checksums.
   */
  readonly check?: "quick" | "full";
}

/**
 * Returns a storage in a SQLite file, based on `node:sqlite`. It uses a
 * write-ahead log, and a commit is on disk before its command returns. Several processes can use
 * one file. To join a transaction of the host application, pass its `node:sqlite` or better-sqlite3
 * handle on the same file as `tx`.
 * @throws TidingsError `invalid_option` when an option has the wrong form
 */
export function sqlite(options: SqliteOptions): StoragePort<DatabaseSync> {
  const { file, migrate = true, check = "quick" } = options;
  if (typeof file !== "string" || file === "") {
    throw new TidingsError(
      "invalid_option",
      `sqlite: file: expected the path of a database file, got ${typeof file}`,
    );
  }
  if (file.includes(":memory:") || file.includes("mode=memory")) {
    throw new TidingsError(
      "invalid_option",
      "sqlite: file: expected the path of a file, got a database in memory, which only one " +
        "connection can see. Use memory() instead.",
    );
  }
  if (typeof migrate !== "boolean") {
    throw new TidingsError(
      "invalid_option",
      `sqlite: migrate: expected true or false, got ${typeof migrate}`,
    );
  }
  if (check !== "quick" && check !== "full") {
    throw new TidingsError(
      "invalid_option",
      `sqlite: check: expected "quick" or "full", got ${typeof check}`,
    );
  }
  return new SqliteStorage({ file, migrate, check });
}
