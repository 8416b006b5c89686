import type { Access, Group, Lookup, Row, Write } from "../../../../src/ports/index.ts";
import type { TableOf } from "../../make-tables.ts";
import { OpenGroups } from "../../open-groups.ts";
import { rollBack, type Connection } from "../connections/connection.ts";
import { whenUnlocked } from "../connections/when-unlocked.ts";
import type { DatabaseFiles } from "../damage/database-files.ts";
import { isStale } from "../errors.ts";
import type { Reads } from "../reads/reads.ts";
import type { Table } from "../tables/tables.ts";
import type { BackgroundWriter } from "../thread/background-writer.ts";
import type { Step } from "../writes/steps.ts";
import { runStepsOrThrow, stepsOf } from "../writes/writes.ts";
import { QueuedGroup, type WriteLock } from "./write-lock.ts";

interface GroupsOptions {
  readonly connection: Connection;
  readonly reads: Reads;
  readonly tableOf: TableOf<Table>;
  readonly background: BackgroundWriter;
  readonly files: DatabaseFiles;
  readonly lock: WriteLock;
  /** Whether nothing may wait for a lock. */
  readonly isAbandoned: () => boolean;
  /** Called after each commit. */
  readonly onCommit: () => void;
}

/** What the open transaction is for: the reads of one exclusive group, or of all shared groups. */
type Owner = symbol | "shared";

/**
 * Commits groups on one connection. A group's first read begins a transaction, which makes its
 * further reads cheap. Its writes, up to COMMIT, happen without returning to the event loop. The
 * writes check the version guards themselves. A commit is therefore correct whatever the reads saw,
 * and can move to a new transaction when another process wrote in between.
 */
export class Groups {
  readonly #options: GroupsOptions;
  /** Undefined if no transaction is open. */
  #owner: Owner | undefined;
  readonly #open = new OpenGroups();

  constructor(options: GroupsOptions) {
    this.#options = options;
  }

  begin(access: Access): Group {
    const group = this.#open.begin();
    const owner = access === "exclusive" ? group : "shared";
    let hasRead = false;
    const started: Group = {
      read: (lookups) =>
        this.#whenUnlocked(() => {
          // The read may have waited for a lock. If it took the lock now, nothing would release it.
          this.#open.refuseEnded(group);
          // A transaction that an earlier group began does not see later commits. And one that a
          // shared group began does not hold the file's lock, which an exclusive group needs.
          if (!hasRead || access === "exclusive") this.#endReadingOf("shared");
          hasRead = true;
          const rows = this.#read(lookups, owner);
          // The log can begin again at the front only if nothing reads during a checkpoint. If each
          // group read while the thread commits the one before it, that moment would never come.
          if (this.#options.files.isLogLong) this.#endReadingOf("shared");
          return rows;
        }),
      commit: (writes) => this.#commitAndEnd(group, owner, writes),
      abort: () => {
        if (this.#open.has(group)) this.#endReadingOf(owner);
        this.#open.end(group);
      },
    };
    return new QueuedGroup(started, access, this.#options.lock);
  }

  /** Resolves when no group is open. */
  idle(): Promise<void> {
    return this.#open.idle();
  }

  /** Ends the transaction that the reads of an open group began. */
  endReading(): void {
    if (this.#owner === undefined) return;
    this.#owner = undefined;
    rollBack(this.#options.connection.handle);
  }

  /**
   * Ends the transaction if it is for this owner or for shared groups. The transaction of another
   * engine's exclusive group goes on, because other processes must wait until that group ends.
   */
  #endReadingOf(owner: Owner): void {
    if (this.#owner === "shared" || this.#owner === owner) this.endReading();
  }

  #read(lookups: readonly Lookup[], owner: Owner): Row[][] {
    const { connection, reads } = this.#options;
    if (this.#owner === undefined) {
      connection.statement(owner === "shared" ? "BEGIN" : "BEGIN IMMEDIATE").run();
      this.#owner = owner;
    }
    try {
      return lookups.map((lookup) => reads.get(connection, lookup));
    } catch (error) {
      // SQLite may have ended the transaction, and writes must never run outside of one.
      this.endReading();
      throw error;
    }
  }

  #commitAndEnd(group: symbol, owner: Owner, writes: readonly Write[]): void | Promise<void> {
    let committed: void | Promise<void>;
    try {
      this.#options.files.verify();
      committed = this.#commit(writes, owner);
    } catch (error) {
      // A commit can be refused before it comes to the transaction.
      this.#endReadingOf(owner);
      this.#open.end(group);
      throw error;
    }
    if (committed instanceof Promise) return this.#endLater(group, committed);
    this.#open.end(group);
    this.#options.onCommit();
    return undefined;
  }

  async #endLater(group: symbol, committed: Promise<void>): Promise<void> {
    try {
      await committed;
      // Damage may be found while the commit waits for earlier ones.
      this.#options.files.saveLateCommit();
    } finally {
      this.#open.end(group);
    }
    this.#options.onCommit();
  }

  #commit(writes: readonly Write[], owner: Owner): void | Promise<void> {
    const { tableOf, background, files, isAbandoned } = this.#options;
    const steps = stepsOf(writes, tableOf);
    // An exclusive group holds the file's lock on this connection, so it commits here. The thread
    // would wait for a lock.
    const thread =
      owner === "shared" && !isAbandoned()
        ? background.threadFor(writes.length, files.isLogLong)
        : undefined;
    if (thread === undefined) {
      return this.#whenUnlocked(() => this.#commitHere(steps));
    }
    this.endReading();
    return thread.commit(steps);
  }

  #whenUnlocked<T>(attempt: () => T): T | Promise<T> {
    const { files, isAbandoned } = this.#options;
    return whenUnlocked(files.path, attempt, isAbandoned);
  }

  #commitHere(steps: readonly Step[]): void {
    if (this.#owner !== undefined) {
      this.#owner = undefined;
      try {
        this.#write(steps);
        return;
      } catch (error) {
        if (!isStale(error)) throw error;
      }
    }
    this.#options.connection.statement("BEGIN IMMEDIATE").run();
    this.#write(steps);
  }

  #write(steps: readonly Step[]): void {
    const { connection } = this.#options;
    try {
      runStepsOrThrow(steps, connection);
      connection.statement("COMMIT").run();
    } catch (error) {
      rollBack(connection.handle);
      throw error;
    }
  }
}
