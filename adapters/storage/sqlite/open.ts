import { DatabaseSync } from "node:sqlite";
import { TidingsError } from "../../../src/kernel/errors.ts";
import { translated, whenUnlocked } from "./errors.ts";

/**
 * `wal_autocheckpoint`: pages are written back to the file once for many commits; 4,000 pages (16 MB of log) gave most
 * of what a larger log gives, and 16,000 stopped the event loop for up to 50 ms instead of 20 to 30.
 */
const settings = `
  PRAGMA busy_timeout = 0;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;
`;

/**
 * Of a connection that only reads. Pages come from the system's cache without a call and a copy for each, up to the most that SQLite maps
 * of a file: among a million contacts a search takes half as long. (What fails to be read from the disk ends the process then.)
 */
export const readerSettings = `
  PRAGMA query_only = ON;
  PRAGMA mmap_size = 2147418112;
`;

/** A connection to the database file, which is made when it isn't there. */
export async function connect(file: string): Promise<DatabaseSync> {
  const handle = opened(file);
  try {
    await whenUnlocked(() => {
      handle.exec(settings);
      const mode = handle.prepare("PRAGMA journal_mode = WAL").get();
      if (mode?.["journal_mode"] !== "wal") {
        throw new TidingsError(
          "storage_unavailable",
          "The database can't use a write-ahead log where its file is.",
        );
      }
    });
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function opened(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw translated(error);
  }
}
