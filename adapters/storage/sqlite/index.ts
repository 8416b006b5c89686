import type { DatabaseSync } from "node:sqlite";
import {
  booleanOption,
  choiceOption,
  option,
  optionsObject,
  parseOptions,
} from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { SqliteStorage } from "./storage.ts";

/** Options of `sqlite()`. */
export interface SqliteOptions {
  /**
   * The path of the database file, or its `file:` URI. A relative one is resolved when `sqlite()`
   * is called. The file is created if it does not exist; its directory has to exist. A database in
   * memory is not possible: use `memory()` for one.
   */
  readonly file: string;
  /**
   * Whether opening migrates an empty or older database. If false, opening such a database fails
   * with `storage_outdated`.
   * @default true
   */
  readonly migrate?: boolean | undefined;
  /**
   * How much of the engine's tables to check for damage when the database is opened. `quick`, the
   * default, reads all their pages in a file of up to 512 MB, which takes about a second for 400
   * MB, and the first rows of each table of a larger file. `full` reads all pages in a file of any
   * size, and compares each index with its table. It takes about 30 seconds for 1 GB, in a thread.
   * A damaged database is refused with `storage_damaged`. Neither checks your own tables in the
   * file, and neither finds changed text within a page, because SQLite has no checksums.
   */
  readonly check?: "quick" | "full" | undefined;
}

const optionsSchema = optionsObject(
  {
    file: option<string>("the path of a database file", isFile, {
      isQuoted: true,
      advice: (file) =>
        isInMemory(file)
          ? ". Only one connection can see a database in memory. Use memory() instead."
          : "",
    }),
    migrate: booleanOption.default(true),
    check: choiceOption("quick", "full").default("quick"),
  },
  "{ file }, the path of a database file",
);

function isFile(file: unknown): boolean {
  return typeof file === "string" && file !== "" && !file.includes("\0") && !isInMemory(file);
}

function isInMemory(file: unknown): boolean {
  return typeof file === "string" && (file.includes(":memory:") || file.includes("mode=memory"));
}

/**
 * Returns a storage in a SQLite file, based on `node:sqlite`. It uses a write-ahead log, and a
 * commit is on disk before its command returns. Several processes can use one file. To join a
 * transaction of the host application, pass its `DatabaseSync` of the same file as `tx`.
 *
 * In the same process, open the file with `node:sqlite` only. A second SQLite library, such as
 * better-sqlite3, and Node's own one do not see each other's locks, because the operating system
 * gives file locks to processes. Acknowledged commits would be lost. Other processes may use any
 * library.
 * @throws TidingsError `invalid_option` when an option is missing, wrong or unknown
 */
export function sqlite(options: SqliteOptions): StoragePort<DatabaseSync> {
  return new SqliteStorage(parseOptions("sqlite: ", optionsSchema, options));
}
