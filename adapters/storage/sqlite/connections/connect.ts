import type { DatabaseSync } from "node:sqlite";
import { toStorageError, unavailableError } from "../errors.ts";
import { connectionSettings, openFile, refuseReadOnly } from "./connection.ts";
import { whenUnlocked } from "./when-unlocked.ts";

/**
 * Connects to the database file, and creates it if it does not exist.
 * @throws TidingsError `storage_unavailable` when the file cannot be opened, cannot be written, or
 *   cannot use a write-ahead log
 */
export async function connect(file: string): Promise<DatabaseSync> {
  const handle = open(file);
  try {
    await whenUnlocked(file, () => {
      handle.exec(`PRAGMA busy_timeout = 0; ${connectionSettings}`);
      const mode = handle.prepare("PRAGMA journal_mode = WAL").get();
      if (mode?.["journal_mode"] !== "wal") {
        throw unavailableError(
          "SQLite cannot use a write-ahead log. Put the database file on a local disk.",
          file,
        );
      }
      refuseReadOnly(handle);
    });
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function open(file: string): DatabaseSync {
  try {
    return openFile(file);
  } catch (error) {
    throw toStorageError(error, file);
  }
}
