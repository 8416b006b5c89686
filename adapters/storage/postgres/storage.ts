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
  StorageConflict,
  type StoragePort,
  StorageRefusal,
} from "../../../src/ports/index.ts";
import { endedEarly, OpenTransactions } from "../open-transactions.ts";
import { type Opened, RefCounted } from "../ref-counted.ts";
import { tablesOf } from "../schema.ts";
import { Admissions } from "./admissions.ts";
import type { StorageContext } from "./context.ts";
import type { PostgresClient, PostgresPool } from "./driver.ts";
import { AdvisoryLocks } from "./engine-locks.ts";
import { failedTransaction, ignoredFailure, isEnded, sqlState } from "./errors.ts";
import { Groups } from "./groups.ts";
import { HostGroups } from "./host-groups.ts";
import { databaseId, ensureSchema, migrationSql } from "./migrations.ts";
import type { Names } from "./names.ts";
import { Notifications } from "./notifications.ts";
import { ConnectionPool, type PooledConnection } from "./pool.ts";
import { PostgresReader } from "./reader.ts";
import { Session } from "./session.ts";
import { checkTransaction, markTransaction } from "./settings.ts";
import { Table } from "./tables.ts";
import { begin, checkCommitted, commit, rollBack } from "./transaction-control.ts";
import { byName } from "./writes.ts";

interface Open extends StorageContext, Opened {
  readonly groups: Groups;
  readonly hosts: HostGroups;
  readonly admissions: Admissions;
  readonly notifications: Notifications;
  readonly engineLocks: AdvisoryLocks;
  /** The connections with open transactions of the host application. */
  readonly transactions: Set<PooledConnection>;
}

/** The size of a pool that does not report one. It is the default of `pg`. */
const defaultPoolSize = 10;
/**
 * The smallest pool that works: one connection is kept for notifications and locks, and one runs
 * everything else in turn. A migration alone needs only one.
 */
const minPoolSize = 2;
/** How many connections stay free for groups, reads and notifications. */
const reservedConnections = 4;

/** The storage that `postgres()` returns. */
export class PostgresStorage<Client extends PostgresClient> implements StoragePort<Client> {
  readonly capabilities: StorageCapabilities;
  readonly reader: PostgresReader = new PostgresReader(() => this.#shared.get());
  readonly #pool: ConnectionPool;
  readonly #poolSize: number;
  readonly #names: Names;
  readonly #migrate: boolean;
  readonly #shared = new RefCounted<Open>();
  readonly #openTransactions = new OpenTransactions();

  readonly engineLocks: EngineLocks = {
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
    await this.#shared.open(() => this.#connect(schema).catch(asUnavailable));
  }

  async migrate(schema: Schema): Promise<void> {
    await this.#pool
      .use((connection) => ensureSchema(connection, schema, this.#names, true))
      .catch(asUnavailable);
  }

  migrationSql(schema: Schema, from = 0): string {
    return migrationSql(schema, this.#names, from);
  }

  begin(how: Access = "shared"): Group {
    return this.#shared.get().groups.begin(how);
  }

  host(handle: unknown): Group {
    return this.#shared.get().hosts.group(handle);
  }

  async transaction<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { pool, transactions } = this.#shared.get();
    const pooled = await pool.take();
    const { connection, release } = pooled;
    transactions.add(pooled);
    try {
      await connection.run([begin, markTransaction]).catch((error: unknown) => {
        throw pool.toError(error);
      });
      const value = await this.#openTransactions.run(connection.client as Client, work);
      // COMMIT succeeds without an open transaction, too, and in another one.
      const committed = connection.run([checkTransaction, commit]).catch((error: unknown) => {
        throw toCommitError(error, pool);
      });
      checkCommitted(await committed);
      return value;
    } catch (error) {
      await rollBack(connection);
      // The work may still be running, and must not write into the next transaction.
      connection.lose();
      throw error;
    } finally {
      transactions.delete(pooled);
      release();
    }
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

  async abandonIfSilent(): Promise<void> {
    // The other engines may wait for the server.
    if (!this.#shared.isShared) await this.#pool.abandonIfSilent();
  }

  async close(): Promise<void> {
    await this.#shared.close();
  }

  async #connect(schema: Schema): Promise<Open> {
    const pool = this.#pool;
    pool.reopen();
    const names = this.#names;
    const table = tablesOf(schema, (collection) => new Table(collection, names));
    const id = await pool.use(async (connection) => {
      await ensureSchema(connection, schema, names, this.#migrate);
      return databaseId(connection, names);
    });
    await pool.readDefaults();
    const counters = schema.collections
      .filter(({ kind }) => kind === "counter")
      .map(({ name }) => table(name))
      .toSorted(byName);
    const context: StorageContext = { pool, names, table, counters };
    const session = new Session(pool);
    const notifications = new Notifications(pool, session, names);
    const engineLocks = new AdvisoryLocks(pool, session, names);
    const groups = new Groups(context, () => notifications.notify(this.#shared.isShared));
    const transactions = new Set<PooledConnection>();
    return {
      ...context,
      notifications,
      engineLocks,
      groups,
      transactions,
      hosts: new HostGroups(context, id, notifications.hostNotification, this.#openTransactions),
      admissions: new Admissions(pool, names),
      idle: () => groups.idle(),
      close: async () => {
        for (const { connection, release } of transactions) {
          connection.lose();
          release();
        }
        await engineLocks.close();
        await notifications.close();
      },
    };
  }
}

/** Converts the error of the COMMIT of a transaction with the host application's statements. */
function toCommitError(error: unknown, pool: ConnectionPool): unknown {
  if (isEnded(error)) return endedEarly();
  if (sqlState(error) === failedTransaction) return ignoredFailure();
  const converted = pool.toError(error);
  // The engine's own constraints are checked before, so this is one of the host application's.
  const isRefused = converted instanceof StorageConflict || converted instanceof StorageRefusal;
  return isRefused ? error : converted;
}

/** Throws a conflict outside a group, which nothing would rerun, as `storage_unavailable`. */
function asUnavailable(error: unknown): never {
  if (!(error instanceof StorageConflict)) throw error;
  throw new TidingsError(
    "storage_unavailable",
    "Another transaction holds a lock that is needed here.",
    { cause: error },
  );
}
