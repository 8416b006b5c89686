import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Schema } from "../../../src/ports/collection.ts";
import {
  type Access,
  type Admission,
  type AdmissionRequest,
  type Group,
  type StorageCapabilities,
  StorageConflict,
  type StoragePort,
} from "../../../src/ports/storage.ts";
import { tablesOf } from "../schema.ts";
import { type Opened, Shared } from "../shared.ts";
import { Admissions } from "./admissions.ts";
import { begin, commit, committed, Connections, rolledBack, type Taken } from "./connections.ts";
import { translated } from "./errors.ts";
import { type Ground, Groups } from "./groups.ts";
import { HostTransactions } from "./host.ts";
import { databaseId, ensureSchema, migrationSql } from "./migrations.ts";
import { Names } from "./names.ts";
import { PostgresReader } from "./reader.ts";
import type { PostgresClient, PostgresPool } from "./session/client.ts";
import { Table } from "./tables.ts";
import { WakeUps } from "./wake-ups.ts";

export type {
  PostgresClient,
  PostgresPool,
  PostgresPoolClient,
  PostgresQuery,
  PostgresResult,
} from "./session/client.ts";

export interface PostgresOptions {
  /** A `pg` Pool, or what has its shape. It stays the host's: closing the engine doesn't end it. Some connections are needed at once: 5 do. */
  readonly pool: PostgresPool;
  /** The PostgreSQL schema that the tables are in: lower-case letters, digits and `_`, up to 63. Default `public`. */
  readonly schema?: string;
  /** Whether opening brings an empty or older database up to date. Default true; else it is refused. */
  readonly migrate?: boolean;
}

/**
 * The storage in a PostgreSQL database (14 or later, encoding UTF8), on the host's own pool. Any number of processes may work on it. A
 * host's transaction is joined through the client that it runs on; `Client` is the type of those that `engine.transaction` gives, the
 * pool's. Text is stored as it is, but for U+0000, which PostgreSQL's text doesn't have: it is stored as two U+0001, and U+0001 as
 * U+0001 U+0002.
 * @throws TidingsError `invalid_option`
 */
export function postgres<Client extends PostgresClient = PostgresClient>(
  options: PostgresOptions,
): StoragePort<Client> {
  const { pool, schema = "public", migrate = true } = options;
  if (typeof pool !== "object" || pool === null || typeof pool.connect !== "function") {
    throw new TidingsError(
      "invalid_option",
      `postgres: pool: expected a pg Pool, got ${typeof pool}`,
    );
  }
  if (typeof schema !== "string" || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TidingsError(
      "invalid_option",
      "postgres: schema: expected the name of a schema in lower-case letters, digits and underscores, up to 63",
    );
  }
  if (typeof migrate !== "boolean") {
    throw new TidingsError(
      "invalid_option",
      `postgres: migrate: expected true or false, got ${typeof migrate}`,
    );
  }
  return new PostgresStorage<Client>(pool, new Names(schema), migrate);
}

interface Open extends Ground, Opened {
  readonly groups: Groups;
  readonly hosts: HostTransactions;
  readonly admissions: Admissions;
  readonly wakeUps: WakeUps;
  /** Connections that have the host's transactions. */
  readonly transactions: Set<Taken>;
}

/** Connections of a pool, where it doesn't say. */
const usualMax = 10;
/** Connections that groups, reads and notifications are to find free. */
const keptBack = 4;

class PostgresStorage<Client extends PostgresClient> implements StoragePort<Client> {
  readonly capabilities: StorageCapabilities;
  readonly reader: PostgresReader = new PostgresReader(() => this.#shared.get());
  readonly #connections: Connections;
  readonly #names: Names;
  readonly #migrate: boolean;
  readonly #shared = new Shared<Open>();

  constructor(pool: PostgresPool, names: Names, migrate: boolean) {
    const transactions = Math.max(1, (pool.options?.max ?? usualMax) - keptBack);
    this.capabilities = {
      durable: true,
      shared: true,
      synchronous: false,
      hostTransactions: true,
      transactions,
    };
    this.#connections = new Connections(pool);
    this.#names = names;
    this.#migrate = migrate;
  }

  async open(schema: Schema): Promise<void> {
    await this.#shared.open(() => this.#connect(schema).catch(refuse));
  }

  async migrate(schema: Schema): Promise<void> {
    await this.#connections
      .use((connection) => ensureSchema(connection, schema, this.#names, true))
      .catch(refuse);
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

  async transaction<T>(work: (client: NonNullable<Client>) => Promise<T>): Promise<T> {
    const { connections, transactions } = this.#shared.get();
    const taken = await connections.take();
    const { connection, release } = taken;
    transactions.add(taken);
    const run = (statement: typeof begin): ReturnType<typeof connection.run> =>
      connection.run([statement]).catch((error: unknown) => {
        throw translated(error);
      });
    try {
      await run(begin);
      const value = await work(connection.client as NonNullable<Client>);
      committed(await run(commit));
      return value;
    } catch (error) {
      await rolledBack(connection);
      // What failed may go on all the same, and must not write into the next transaction.
      connection.lose();
      throw error;
    } finally {
      transactions.delete(taken);
      release();
    }
  }

  async admit(asked: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    return this.#shared.get().admissions.admit(asked).catch(refuse);
  }

  watch(listener: () => void): () => void {
    return this.#shared.get().wakeUps.watch(listener);
  }

  async turn(): Promise<void> {
    await setImmediate();
  }

  async close(): Promise<void> {
    await this.#shared.close();
  }

  async #connect(schema: Schema): Promise<Open> {
    const connections = this.#connections;
    const names = this.#names;
    const table = tablesOf(schema, (collection) => new Table(collection, names));
    const id = await connections.use(async (connection) => {
      await ensureSchema(connection, schema, names, this.#migrate);
      return databaseId(connection, names);
    });
    await connections.learn();
    const ground: Ground = { connections, names, table };
    const wakeUps = new WakeUps(connections, names);
    const groups = new Groups(ground, () => wakeUps.notify());
    const transactions = new Set<Taken>();
    return {
      ...ground,
      wakeUps,
      groups,
      transactions,
      hosts: new HostTransactions(ground, id, wakeUps.hostNotice),
      admissions: new Admissions(connections, names),
      idle: () => groups.idle(),
      close: async () => {
        for (const { connection, release } of transactions) {
          connection.lose();
          release();
        }
        await wakeUps.close();
      },
    };
  }
}

/** Outside of groups nobody runs anything again. */
function refuse(error: unknown): never {
  if (!(error instanceof StorageConflict)) throw error;
  throw new TidingsError("storage_unavailable", "Another transaction keeps what is needed here.", {
    cause: error,
  });
}
