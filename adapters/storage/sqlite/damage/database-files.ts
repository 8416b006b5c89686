import { statSync, type BigIntStats } from "node:fs";
import { maxLogBytes } from "../connections/connection.ts";
import { damagedError, type Damage } from "../errors.ts";

/** How often to check the files of an open database, in milliseconds. */
export const fileCheckMs = 50;

/** The files of an open database: the database, its write-ahead log and the index of the log. */
const suffixes = ["", "-wal", "-shm"] as const;
type Suffix = (typeof suffixes)[number];

/** What the files are called where their paths must not be shown. */
const fileNames: Readonly<Record<Suffix, string>> = {
  "": "The database file",
  "-wal": "The write-ahead log",
  "-shm": "The index of the write-ahead log",
};

/** What errors say of a file that is no longer at its path. A move is not told apart. */
const gone = "deleted or moved";

interface FileDamage extends Damage {
  /** Whether all commits were in the database file when the damage was last seen. */
  readonly isSaved: boolean;
}

/**
 * Watches the files of an open database. SQLite keeps writing to a file that was deleted, moved or
 * replaced. When the process ends, a file without a path is gone, with all commits in it.
 */
export class DatabaseFiles {
  readonly path: string;
  readonly #saveLog: () => boolean;
  readonly #identities = new Map<Suffix, string>();
  #isLogLong = false;
  #checkedAt = 0;
  #damage: FileDamage | undefined;

  /**
   * `saveLog` copies the write-ahead log into the database file. It returns whether it copied
   * everything.
   */
  constructor(path: string, saveLog: () => boolean) {
    this.path = path;
    this.#saveLog = saveLog;
    this.#check();
  }

  /** Whether the write-ahead log was too long when the files were last checked. */
  get isLogLong(): boolean {
    return this.#isLogLong;
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
    if (this.#damage !== undefined) throw damagedError(this.#damage);
  }

  /**
   * Saves a commit that ended after damage was found. The log was saved before that commit was in
   * it.
   * @throws TidingsError `storage_damaged` when the commit may be lost
   */
  saveLateCommit(): void {
    if (this.#damage === undefined) return;
    // By now, another process may have created a new log.
    this.#check();
    if (!this.#damage.isSaved) throw damagedError(this.#damage);
  }

  #check(): void {
    this.#checkedAt = performance.now();
    const changed = suffixes
      .map((suffix) => ({ suffix, change: this.#changeOf(suffix) }))
      .filter(({ change }) => change !== undefined);
    const [first] = changed;
    if (first === undefined) return;
    const { suffix, change } = first;
    // If the log alone is gone, no one else can have a new one yet, and its commits can be saved.
    const isLogGone = suffix === "-wal" && change === gone && changed.length === 1;
    const isSaved = isLogGone && this.#saveLog();
    const outcome = isSaved
      ? "All commits were saved to the database file."
      : "Recent commits may be lost when this process ends.";
    const what =
      `was ${change} while the database was open. ${outcome} Stop every process that uses the ` +
      "database, check its files, and start again.";
    this.#damage = {
      message: `${this.path}${suffix} ${what}`,
      detail: `${fileNames[suffix]} ${what}`,
      isSaved,
    };
  }

  #changeOf(suffix: Suffix): typeof gone | "replaced" | undefined {
    const known = this.#identities.get(suffix);
    const stats = statsOf(this.path + suffix);
    // The process may not look, for example because it gave up its privileges. The files that it
    // has open still work.
    if (stats === "unknown") return undefined;
    if (suffix === "-wal") this.#isLogLong = Number(stats?.size ?? 0) > maxLogBytes;
    // What distinguishes a file from every other one.
    const identity = stats && `${stats.dev}:${stats.ino}`;
    if (identity === undefined) return known === undefined ? undefined : gone;
    // SQLite creates the log and its index when it first needs them.
    if (known === undefined) this.#identities.set(suffix, identity);
    return known === undefined || known === identity ? undefined : "replaced";
  }
}

/** Undefined if there is no file, `unknown` if the process may not look. */
function statsOf(path: string): BigIntStats | "unknown" | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return "unknown";
  }
}
