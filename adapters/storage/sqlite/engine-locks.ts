/**
 * The locks of engines on one database. Each is an exclusive lock on an empty SQLite database
 * beside the file: Node has no other lock that ends with its process. The operating system releases
 * it however the process ends, so a process id that is used again, or a process that was suspended,
 * cannot mislead anyone.
 */
import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { EngineLock, EngineLocks } from "../../../src/ports/index.ts";
import { openFile } from "./connections/connection.ts";

/** What the name of a lock's file adds to the name of the database file, before the id. */
const infix = "-engine-";
const idPattern = /^[0-9a-f]{16}$/;
/** How many times to try to take a lock. */
const maxTries = 3;
/** The maximum number of files of crashed engines that are removed at once. */
const maxRemoved = 1_000;

/** Takes the locks of the engines of one storage, each on a file of its own. */
export class FileLocks implements Omit<EngineLocks, "graceMs"> {
  /** The path of the database file. */
  readonly #path: string;
  readonly #held = new Map<string, DatabaseSync>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined if the process may not create files beside the database. */
  async take(): Promise<EngineLock | undefined> {
    await this.#removeFreeFiles();
    for (let tries = 0; tries < maxTries; tries++) {
      const id = randomBytes(8).toString("hex");
      const handle = lock(this.#fileOf(id));
      if (handle === undefined) continue;
      // Between its creation and the lock, another process may have removed the file as a free one.
      if (isMissing(this.#fileOf(id))) {
        handle.close();
        continue;
      }
      this.#held.set(id, handle);
      return {
        id,
        isHeld: () => this.#held.has(id),
        release: async () => this.#release(id),
      };
    }
    return undefined;
  }

  async findFree(ids: readonly string[]): Promise<readonly string[]> {
    return ids.filter((id) => idPattern.test(id) && this.#removeIfFree(this.#fileOf(id)));
  }

  /** Releases all locks. */
  close(): void {
    for (const id of this.#held.keys()) this.#release(id);
  }

  #fileOf(id: string): string {
    return `${this.#path}${infix}${id}`;
  }

  #release(id: string): void {
    const handle = this.#held.get(id);
    this.#held.delete(id);
    if (handle !== undefined) remove(this.#fileOf(id), handle);
  }

  /** Removes the file of a lock that nobody holds. Returns whether the lock is free. */
  #removeIfFree(file: string): boolean {
    if (isMissing(file)) return true;
    const handle = lock(file);
    if (handle === undefined) return false;
    remove(file, handle);
    return true;
  }

  /** Removes files that engines left when they crashed, also before any lease named them. */
  async #removeFreeFiles(): Promise<void> {
    const beginning = basename(this.#path) + infix;
    const names = await readdir(dirname(this.#path)).catch(() => []);
    const files = names.filter(
      (name) => name.startsWith(beginning) && idPattern.test(name.slice(beginning.length)),
    );
    for (const name of files.slice(0, maxRemoved)) {
      this.#removeIfFree(this.#path + name.slice(basename(this.#path).length));
    }
  }
}

/**
 * Locks a file, and creates it if it does not exist. Returns undefined if another handle holds the
 * lock or the file cannot be opened. Nothing is written, so the file stays empty.
 */
function lock(file: string): DatabaseSync | undefined {
  let handle: DatabaseSync | undefined;
  try {
    handle = openFile(file);
    // With a journal in memory, an exclusive transaction creates no second file.
    handle.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return handle;
  } catch {
    handle?.close();
    return undefined;
  }
}

/** Whether there is certainly no such file. The process may be unable to look. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/**
 * Removes a file while its lock is still held, so that nobody else can take the lock in between. A
 * system that cannot remove open files removes it afterwards, unless somebody has opened it again.
 */
function remove(file: string, handle: DatabaseSync): void {
  const isRemoved = tryToRemove(file);
  handle.close();
  if (!isRemoved) tryToRemove(file);
}

function tryToRemove(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}
