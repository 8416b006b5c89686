/** Opens the SQLite file of a command, and says what to do if it cannot be used. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { memberOf } from "../../../src/kernel/index.ts";
import { toStorageError } from "../../storage/sqlite/errors.ts";
import { sqlite } from "../../storage/sqlite/index.ts";
import { Failure, systemCode } from "../failures.ts";
import type { Database } from "./database.ts";

/** The name of the SQLite file that all commands use by default. */
export const defaultFile = "tidings.db";

/** The result code SQLITE_ERROR (https://sqlite.org/rescode.html). */
const statementError = 1;

/**
 * How long a read waits for another process, in milliseconds. A process locks the whole file for a
 * moment when it is the last one to close it, and when it repairs the log after a crash.
 */
const lockedMs = 5_000;

/**
 * Returns the database in a SQLite file.
 * @throws Failure when the file does not exist and `mayCreate` is false, when it is no SQLite
 *   database, or when it or its folder cannot be read and written
 */
export function sqliteDatabase(
  file: string,
  { mayCreate }: { readonly mayCreate: boolean },
): Database {
  checkFile(file, mayCreate);
  return {
    name: file,
    file,
    storage: ({ migrate }) => sqlite({ file, migrate }),
    table: (name) => `tidings_${name}`,
    async query(sql) {
      try {
        return queryFile(file, sql);
      } catch (error) {
        // An error in the statement, such as a missing table, does not concern the file.
        throw memberOf(error, "errcode") === statementError
          ? error
          : toStorageError(error, resolve(file));
      }
    },
    async close() {},
  };
}

function queryFile(file: string, sql: string): unknown[][] {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  // A read-only connection would leave an empty log behind when it is the last one.
  const handle = new DatabaseSync(file, { timeout: lockedMs });
  try {
    handle.exec("PRAGMA query_only = ON");
    const statement = handle.prepare(sql);
    return statement.all().map((row) => Object.values(row));
  } finally {
    handle.close();
  }
}

function checkFile(file: string, mayCreate: boolean): void {
  const stats = statOf(file);
  if (stats === undefined) {
    if (mayCreate) return checkFolder(file);
    throw new Failure(
      `There is no file ${resolve(file)}.`,
      `To create it:            tidings dev${file === defaultFile ? "" : ` --file ${file}`}`,
      "To use another file:     --file path/to/tidings.db",
      "To use PostgreSQL:       --database postgres://user@host/name",
    );
  }
  if (stats.isDirectory()) {
    throw new Failure(
      `${file} is a folder, and a file is needed.`,
      `Name a file in it:  --file ${join(file, "tidings.db")}`,
    );
  }
  if (!mayUse(file, constants.R_OK | constants.W_OK)) {
    throw new Failure(
      `The file ${file} cannot be read and written by this user.`,
      "Change its permissions, or name another file with --file.",
    );
  }
  if (stats.size > 0 && !isSqlite(file)) {
    throw new Failure(
      `${file} is not a SQLite database.`,
      "Name another file with --file. This one was not changed.",
    );
  }
  checkFolder(file);
}

/** SQLite writes its log beside the file, so the folder must be writable too. */
function checkFolder(file: string): void {
  const folder = dirname(file);
  if (statOf(folder) === undefined) {
    throw new Failure(
      `The folder ${resolve(folder)} does not exist.`,
      `Create it first:  mkdir -p ${folder}`,
    );
  }
  if (!mayUse(folder, constants.W_OK)) {
    throw new Failure(
      `The folder ${resolve(folder)} is not writable, and SQLite keeps its log beside the file.`,
      "Change its permissions, or name a file in another folder with --file.",
    );
  }
}

function statOf(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) !== "EACCES" && systemCode(error) !== "ENOTDIR") throw error;
    throw new Failure(`${resolve(path)} cannot be reached by this user.`, "Check its folders.");
  }
}

function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** The first bytes of every SQLite database (sqlite.org/fileformat.html, section 1.3). */
const header = "SQLite format 3\0";

function isSqlite(file: string): boolean {
  const bytes = Buffer.alloc(header.length);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, bytes);
  } finally {
    closeSync(descriptor);
  }
  return bytes.toString("latin1") === header;
}
