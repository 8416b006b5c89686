import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/kernel/index.ts";
import {
  type Access,
  type Admission,
  type AdmissionRequest,
  type EngineLocks,
  type Group,
  type Schema,
  type SignalLine,
  type StorageCapabilities,
  type StoragePort,
} from "../../../src/ports/index.ts";
import { OpenTransactions } from "../open-transactions.ts";
import { RefCounted } from "../ref-counted.ts";
import type { PostgresClient, PostgresPool } from "./connections/driver.ts";
import { ConnectionPool } from "./connections/pool.ts";
import { graceMs } from "./engine-locks.ts";
import { asUnavailable } from "./errors.ts";
import type { Names } from "./names.ts";
import { openStorage, type OpenStorage } from "./open-storage.ts";
import { PostgresReader } from "./reads/reader.ts";
import { ensureSchema, migrationSql } from "./tables/migrations.ts";

/** The size of a pool that does not report one. It is the default of `pg`. */
const defaultPoolSize = 10;
/**
 * The smallest pool that works: one connection is kept for notifications and locks, and one runs
 * everything else, one after the other. A migration alone needs only one.
 */
const minPoolSize = 2;
/**
 * How many connections consumers and policies leave to everything else: groups, reads,
 * notifications and the transactions of callers.
 */
const reservedConnections = 4;
/**
 * How many connections all transactions together leave to everything else: one for notifications
 * and locks, and one for groups and reads.
 */
const reservedForEngine = 2;

/**
 * The storage that `postgres()` returns. All of its parts take connections from the host
 * application's pool (`connections/pool.ts`):
 * - the engine's groups (`transactions/groups.ts`);
 * - the transactions of `engine.transaction` (`transactions/engine-transactions.ts`);
 * - the reader (`reads/reader.ts`);
 * - notifications and engine locks, which share one connection and keep it
 *   (`connections/session.ts`).
 *
 * Groups inside transactions that the host application opened itself run on its own clients
 * (`transactions/host-groups.ts`).
 */
export class PostgresStorage<Client extends PostgresClient> implements StoragePort<Client> {
  readonly capabilities: StorageCapabilities;
  readonly reader: PostgresReader = new PostgresReader(() => this.#shared.get());
  readonly #pool: ConnectionPool;
  readonly #poolSize: number;
  readonly #names: Names;
  readonly #migrate: boolean;
  readonly #shared = new RefCounted<OpenStorage>();
  readonly #openTransactions = new OpenTransactions();

  readonly engineLocks: EngineLocks = {
    graceMs,
    take: async () => this.#shared.get().engineLocks.take(),
    findFree: async (ids) => this.#shared.get().engineLocks.findFree(ids).catch(asUnavailable),
  };

  constructor(pool: PostgresPool, names: Names, migrate: boolean) {
    this.#poolSize = pool.options?.max ?? defaultPoolSize;
    const transactions = Math.max(1, this.#poolSize - reservedConnections);
    this.capabilities = {
      durable: true,
      shared: true,
      synchronous: false,
      hostTransactions: true,
      transactions,
    };
    this.#pool = new ConnectionPool(pool);
    this.#names = names;
    this.#migrate = migrate;
  }

  /** @throws TidingsError `invalid_option` when the pool is too small */
  async open(schema: Schema): Promise<void> {
    if (this.#poolSize < minPoolSize) {
      throw new TidingsError(
        "invalid_option",
        `postgres: pool: expected a pool of at least ${minPoolSize} connections, got one of ` +
          `${this.#poolSize}`,
      );
    }
    this.#pool.clients.reopen();
    await this.#shared.open(() =>
      openStorage(schema, {
        pool: this.#pool,
        names: this.#names,
        canMigrate: this.#migrate,
        openTransactions: this.#openTransactions,
        maxTransactions: Math.max(1, this.#poolSize - reservedForEngine),
        isShared: () => this.#shared.isShared,
      }).catch(asUnavailable),
    );
  }

  async migrate(schema: Schema): Promise<void> {
    await this.#pool
      .use((connection) => ensureSchema(connection, schema, this.#names, true))
      .catch(asUnavailable);
  }

  migrationSql(schema: Schema, from = 0): string {
    return migrationSql(schema, this.#names, from);
  }

  begin(access: Access = "shared"): Group {
    return this.#shared.get().groups.begin(access);
  }

  host(handle: unknown): Group {
    return this.#shared.get().hostGroups.group(handle);
  }

  async transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
    // The pool's clients are of this type.
    return this.#shared.get().transactions.run((client) => work(client as Client));
  }

  isInsideTransaction(): boolean {
    return this.#openTransactions.isInside();
  }

  async admit(requests: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    return this.#shared.get().admissions.admit(requests).catch(asUnavailable);
  }

  watch(listener: () => void): () => void {
    return this.#shared.get().notifications.watch(listener);
  }

  signals(listener: (text: string) => void): SignalLine {
    return this.#shared.get().notifications.join(listener);
  }

  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
  }

  /** The server rolls back what is not committed. */
  async abandonUnless(stopped: AbortSignal): Promise<void> {
    await this.#shared.abandonLate(stopped, () => this.#pool.abandon());
  }

  async close(): Promise<void> {
    await this.#shared.close();
  }
}
