import type { Worker } from "node:worker_threads";
import type { Connection } from "../connections/connection.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import { damagedError, repairAdvice } from "../errors.ts";
import { startThread, type Check } from "../thread/start-thread.ts";
import { findDamage, maxQuickBytes, sizeOf } from "./find-damage.ts";

/**
 * The maximum size of a database that is checked without a thread, in bytes. SQLite checks about
 * 400 MB per second and blocks the process meanwhile.
 */
const maxBlockingBytes = 33_554_432;

/**
 * Checks the pages of the engine's tables.
 * @throws TidingsError `storage_damaged`
 */
export async function checkPages(
  connection: Connection,
  path: string,
  check: Check,
): Promise<void> {
  const size = sizeOf(connection);
  const isLong = check === "full" || (size > maxBlockingBytes && size <= maxQuickBytes);
  const thread = isLong ? startThread({ file: path, check }) : undefined;
  const damage =
    (thread && (await responseOf(thread))) ??
    (await whenUnlocked(path, () => findDamage(connection, check)));
  if (damage === "") return;
  throw damagedError({
    message: `The database file ${path} is damaged (${damage}). ${repairAdvice}`,
    detail: `The database file is damaged. ${repairAdvice}`,
  });
}

/** Resolves with the damage that the thread found. Undefined if it could not check the database. */
function responseOf(thread: Worker): Promise<string | undefined> {
  return new Promise((resolve) => {
    thread.once("message", resolve);
    thread.once("error", () => resolve(undefined));
    thread.once("exit", () => resolve(undefined));
  });
}
