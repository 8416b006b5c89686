import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { TidingsError } from "../../../src/kernel/index.ts";
import type { Access, EngineLocks, Group, Schema, StoragePort } from "../../../src/ports/index.ts";
import { CommitListeners } from "../commit-listeners.ts";
import { OpenTransactions } from "../open-transactions.ts";
import { RefCounted } from "../ref-counted.ts";
import { Throttle } from "../throttle.ts";
import { connect } from "./connections/connect.ts";
import { fileCheckMs } from "./damage/database-files.ts";
import { openStorage, type OpenStorage, type SqliteStorageOptions } from "./open-storage.ts";
import { SqliteReader } from "./reads/reader.ts";
import { ensureSchema, migrationSql } from "./tables/migrations.ts";

/**
 * The storage that `sqlite()` returns. It has these connections:
 * - one for the engine's groups (`transactions/groups.ts`);
 * - one for the transactions of `engine.transaction` (`transactions/engine-transactions.ts`);
 * - one for the reader (`reads/reader.ts`);
 * - one in a worker thread, which commits large groups (`thread/background-writer.ts`).
 *
 * Groups inside transactions that the host application opened itself run on its own handles
 * (`transactions/host-groups.ts`). Tests set options that `sqlite()` does not have.
 */
export class SqliteStorage implements StoragePort<DatabaseSync> {
  readonly capabilities = {
    durable: true,
    shared: true,
    hostTransactions: true,
    transactions: 1,
    synchronous: true,
  } as const;
  readonly reader: SqliteReader = new SqliteReader(() => this.#shared.get());
  readonly #file: string;
  readonly #options: SqliteStorageOptions;
  readonly #openTransactions = new OpenTransactions();
  readonly #shared = new RefCounted<OpenStorage>();
  readonly #listeners = new CommitListeners();
  /** Whether no call waits for the lock of another process, until an engine opens the storage. */
  #isAbandoned = false;
  /** Tells the engines that share this object about their commits. */
  readonly #telling = new Throttle(() => this.#listeners.callSoon());

  readonly engineLocks: EngineLocks = {
    // Only a release or the end of the process frees the lock of a file.
    graceMs: 0,
    take: async () => this.#shared.get().engineLocks.take(),
    findFree: async (ids) => this.#shared.get().engineLocks.findFree(ids),
  };

  constructor(options: SqliteStorageOptions) {
    this.#file = absolute(options.file);
    this.#options = { ...options, file: this.#file };
  }

  async open(schema: Schema): Promise<void> {
    this.#isAbandoned = false;
    await this.#shared.open(() =>
      openStorage(schema, {
        ...this.#options,
        openTransactions: this.#openTransactions,
        isAbandoned: () => this.#isAbandoned,
        onCommit: () => this.#onCommit(),
      }),
    );
  }

  async migrate(schema: Schema): Promise<void> {
    const handle = await connect(this.#file);
    try {
      await ensureSchema(handle, this.#file, schema, true);
    } finally {
      handle.close();
    }
  }

  migrationSql(schema: Schema, from = 0): string {
    return migrationSql(schema, from);
  }

  begin(access: Access = "shared"): Group {
    return this.#shared.get().groups.begin(access);
  }

  host(handle: unknown): Group {
    return this.#shared.get().hostGroups.group(handle);
  }

  async transaction<T>(work: (handle: DatabaseSync) => Promise<T>): Promise<T> {
    return this.#shared.get().transactions.run(work);
  }

  isInsideTransaction(): boolean {
    return this.#openTransactions.isInside();
  }

  /**
   * Calls `listener` after each commit of another connection, the host application's included, and
   * of another engine on this storage object.
   */
  watch(listener: () => void, onDamage?: (error: TidingsError) => void): () => void {
    const stop = this.#listeners.add(listener);
    let last = this.#dataVersion();
    let isIntact = true;
    const timer = setInterval(() => {
      const damage = isIntact ? this.#damage() : undefined;
      if (damage !== undefined) {
        isIntact = false;
        onDamage?.(damage);
      }
      const version = this.#dataVersion();
      if (version === undefined || version === last) return;
      last = version;
      listener();
    }, fileCheckMs);
    timer.unref();
    return () => {
      stop();
      clearInterval(timer);
    };
  }

  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
  }

  async abandonUnless(stopped: AbortSignal): Promise<void> {
    await this.#shared.abandonLate(stopped, () => {
      this.#isAbandoned = true;
    });
  }

  async close(): Promise<void> {
    await this.#shared.close();
  }

  /** Engines that share the writing connection do not see its commits in `data_version`. */
  #onCommit(): void {
    if (this.#shared.isShared) this.#telling.request();
  }

  #damage(): TidingsError | undefined {
    try {
      this.#shared.get().files.verify();
      return undefined;
    } catch (error) {
      return error instanceof TidingsError && error.code === "storage_damaged" ? error : undefined;
    }
  }

  #dataVersion(): unknown {
    try {
      const { groupsConnection } = this.#shared.get();
      const [version] = groupsConnection.statement("PRAGMA data_version").get() as [unknown];
      return version;
    } catch {
      // Reads and writes will report what is wrong with the database.
      return undefined;
    }
  }
}

/**
 * Resolves the path or `file:` URI of a database. Connections also open later, when the process may
 * have another current directory.
 */
function absolute(file: string): string {
  const scheme = "file:";
  if (!file.startsWith(scheme)) return resolve(file);
  const rest = file.slice(scheme.length);
  return rest.startsWith("/") ? file : pathToFileURL("./").href + rest;
}
