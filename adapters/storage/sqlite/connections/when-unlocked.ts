import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, toStorageError } from "../errors.ts";

/** The first and the longest pause between attempts to get another connection's lock. */
const firstPauseMs = 1;
const maxPauseMs = 25;
/** How long to wait for a lock in all, in milliseconds. */
export const maxLockWaitMs = 5_000;

/**
 * Calls `attempt` and calls it again while another connection holds the lock, until `isAbandoned`
 * returns true. SQLite's own waiting (`busy_timeout`) would block the whole process, so the waiting
 * is done with timers. `attempt` is synchronous, and must leave no changes when it throws. Errors
 * name the file.
 */
export function whenUnlocked<T>(
  file: string,
  attempt: () => T,
  isAbandoned: () => boolean = () => false,
): T | Promise<T> {
  try {
    return attempt();
  } catch (error) {
    if (!isBusy(error)) throw toStorageError(error, file);
    return retry(file, attempt, isAbandoned);
  }
}

async function retry<T>(file: string, attempt: () => T, isAbandoned: () => boolean): Promise<T> {
  let pause = firstPauseMs;
  for (let waited = 0; ; waited += pause, pause = Math.min(2 * pause, maxPauseMs)) {
    await sleep(pause);
    try {
      return attempt();
    } catch (error) {
      const isOver = waited >= maxLockWaitMs || isAbandoned();
      if (isOver || !isBusy(error)) throw toStorageError(error, file);
    }
  }
}
