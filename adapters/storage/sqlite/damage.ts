/**
 * Finds damage to a database: files that are deleted or replaced while it is open, and pages that
 * SQLite cannot read.
 */
import { statSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { type Check, startThread } from "./background-writer.ts";
import type { Connection } from "./connection.ts";
import { damaged, toStorageError, whenUnlocked } from "./errors.ts";
import { quoted } from "./tables.ts";

/** How often to check the files of an open database, in milliseconds. */
export const fileCheckMs = 50;

/** The files of an open database: the database, its write-ahead log and the index of the log. */
const suffixes = ["", "-wal", "-shm"] as const;
type Suffix = (typeof suffixes)[number];

/**
 * Watches the files of an open database. SQLite keeps writing to a file that was deleted or
 * replaced. When the process ends, such a file is gone, with all commits in it.
 */
export class OpenFiles {
  readonly path: string;
  readonly #saveLog: () => boolean;
  readonly #identities = new Map<Suffix, string>();
  #checkedAt = 0;
  #damage: string | undefined;

  /**
   * `saveLog` copies the write-ahead log into the database file. It returns whether it copied
   * everything.
   */
  constructor(path: string, saveLog: () => boolean) {
    this.path = path;
    this.#saveLog = saveLog;
    this.#check();
  }

  /**
   * Checks the files, unless they were checked just now. Damage that was found once stays: only a
   * new process can tell what is in the files.
   * @throws TidingsError `storage_damaged`
   */
  verify(): void {
    if (this.#damage === undefined && performance.now() - this.#checkedAt >= fileCheckMs) {
      this.#check();
    }
    if (this.#damage !== undefined) throw damaged(this.#damage);
  }

  #check(): void {
    this.#checkedAt = performance.now();
    const changes = suffixes.map((suffix) => this.#changeOf(suffix));
    const index = changes.findIndex((change) => change !== undefined);
    if (index === -1) return;
    // If the log alone is gone, no one else can have a new one yet, and its commits can be saved.
    const isLogDeleted = changes[1] === "deleted" && index === 1 && changes[2] === undefined;
    const isSaved = isLogDeleted && this.#saveLog();
    const outcome = isSaved
      ? "All commits were saved to the database file."
      : "Recent commits may be lost when this process ends.";
    this.#damage =
      `${this.path}${suffixes[index]} was ${changes[index]} while the database was open. ` +
      `${outcome} Stop every process that uses the database, check its files, and start again.`;
  }

  #changeOf(suffix: Suffix): "deleted" | "replaced" | undefined {
    const known = this.#identities.get(suffix);
    const identity = identityOf(this.path + suffix);
    if (identity === undefined) return known === undefined ? undefined : "deleted";
    // SQLite creates the log and its index when it first needs them.
    if (known === undefined) this.#identities.set(suffix, identity);
    return known === undefined || known === identity ? undefined : "replaced";
  }
}

/** Returns what distinguishes a file from every other one, or undefined if there is none. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/** SQLite checks about 400 MB per second. A check that takes longer than this one runs in a thread. */
const maxBlockingBytes = 33_554_432;
/** The maximum size of a database that a quick check reads completely, in bytes. */
const maxQuickBytes = 536_870_912;
/** How many rows of each table a quick check reads of a larger database. */
const rowsOfEachTable = 1_000;

/**
 * Checks the pages of the database.
 * @throws TidingsError `storage_damaged`
 */
export async function checkPages(
  connection: Connection,
  path: string,
  check: Check,
): Promise<void> {
  const isLong = check === "full" || isBetween(sizeOf(connection), maxBlockingBytes, maxQuickBytes);
  const thread = isLong ? startThread({ file: path, check }) : undefined;
  const damage =
    thread === undefined
      ? await whenUnlocked(path, () => findDamage(connection, check))
      : await responseOf(thread, path);
  if (damage === "") return;
  throw damaged(
    `The database file ${path} is damaged (${damage}). Restore it from a backup, or recover what ` +
      "is readable with the command .recover of the sqlite3 shell.",
  );
}

/**
 * Returns the first damage that SQLite reports. Empty if it finds none. Throws if it cannot read a
 * page at all. A quick check reads a database of more than `maxBytes` only in part.
 */
export function findDamage(
  connection: Connection,
  check: Check,
  maxBytes: number = maxQuickBytes,
): string {
  if (check === "full") return firstProblem(connection, "integrity_check(1)");
  if (sizeOf(connection) <= maxBytes) return firstProblem(connection, "quick_check(1)");
  const tables = "SELECT name FROM sqlite_schema WHERE rootpage > 0 AND type = 'table'";
  for (const [name] of rowsOf(connection, tables)) {
    // All columns, so that SQLite reads the table and not one of its indexes.
    rowsOf(
      connection,
      `SELECT * FROM ${quoted(String(name))} NOT INDEXED LIMIT ${rowsOfEachTable}`,
    );
  }
  return "";
}

function firstProblem(connection: Connection, pragma: string): string {
  const [[problem] = []] = rowsOf(connection, `PRAGMA ${pragma}`);
  return problem === "ok" ? "" : String(problem).replaceAll(/\s+/g, " ");
}

const isBetween = (value: number, above: number, max: number): boolean =>
  value > above && value <= max;

const sizeOf = (connection: Connection): number =>
  numberOf(connection, "page_count") * numberOf(connection, "page_size");

const numberOf = (connection: Connection, pragma: string): number =>
  Number(rowsOf(connection, `PRAGMA ${pragma}`)[0]?.[0]);

/** Returns the rows as arrays of their columns. */
const rowsOf = (connection: Connection, sql: string): unknown[][] =>
  connection.query(sql).all() as unknown[][];

function responseOf(thread: Worker, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    thread.once("message", resolve);
    thread.once("error", (error) => reject(toStorageError(error, path)));
  });
}
