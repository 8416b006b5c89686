import { setImmediate } from "node:timers/promises";
import { TidingsError } from "../../../src/errors.ts";
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
    throw new TidingsError("invalid_option", `postgres: pool: expected a pg Pool, got ${typeof pool}`);
  }
  if (typeof schema !== "string" || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new TidingsError(
      "invalid_option",
      "postgres: schema: expected the name of a schema in lower-case letters, digits and underscores, up to 63",
    );
  }
  if (typeof migrate !== "boolean") {
    throw new TidingsError("invalid_option", `postgres: migrate: expected true or false, got ${typeof migrate}`);
  }
  return new PostgresStorage<Client>(pool, new Names(schema), migrate);
}

interface Open extends Ground {
  readonly groups: Groups;
  readonly hosts: HostTransactions;
  readonly admissions: Admissions;
  readonly wakeUps: WakeUps;
}

/** Connections of a pool, where it doesn't say. */
const usualMax = 10;
/** Connections that groups, reads and notifications are to find free. */
const keptBack = 4;

class PostgresStorage<Client extends PostgresClient> implements StoragePort<Client> {
  readonly capabilities: StorageCapabilities;
  readonly reader: PostgresReader = new PostgresReader(() => this.#opened());
  readonly #connections: Connections;
  readonly #names: Names;
  readonly #migrate: boolean;
  /** Engines that share the object: the last to close it does. */
  #openers = 0;
  readonly #transactions = new Set<Taken>();
  #opening: Promise<void> | undefined;
  #open: Open | undefined;

  constructor(pool: PostgresPool, names: Names, migrate: boolean) {
    const transactions = Math.max(1, (pool.options?.max ?? usualMax) - keptBack);
    this.capabilities = { durable: true, shared: true, synchronous: false, hostTransactions: true, transactions };
    this.#connections = new Connections(pool);
    this.#names = names;
    this.#migrate = migrate;
  }

  async open(schema: Schema): Promise<void> {
    this.#openers++;
    this.#opening ??= this.#connect(schema).catch((error: unknown) => {
      this.#opening = undefined;
      return refuse(error);
    });
    try {
      await this.#opening;
    } catch (error) {
      this.#openers--;
      throw error;
    }
  }

  async migrate(schema: Schema): Promise<void> {
    await this.#connections.use((connection) => ensureSchema(connection, schema, this.#names, true)).catch(refuse);
  }

  migrationSql(schema: Schema, from = 0): string {
    return migrationSql(schema, this.#names, from);
  }

  begin(how: Access = "shared"): Group {
    return this.#opened().groups.begin(how);
  }

  host(handle: unknown): Group {
    return this.#opened().hosts.group(handle);
  }

  async transaction<T>(work: (client: NonNullable<Client>) => Promise<T>): Promise<T> {
    const taken = await this.#opened().connections.take();
    const { connection, release } = taken;
    this.#transactions.add(taken);
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
      this.#transactions.delete(taken);
      release();
    }
  }

  async admit(asked: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    return this.#opened().admissions.admit(asked).catch(refuse);
  }

  watch(listener: () => void): () => void {
    return this.#opened().wakeUps.watch(listener);
  }

  async turn(): Promise<void> {
    await setImmediate();
  }

  async close(): Promise<void> {
    if (this.#openers > 0) this.#openers--;
    if (this.#openers > 0) return;
    await this.#opening?.catch(() => {});
    await this.#open?.groups.idle();
    // Another may have come meanwhile.
    if (this.#openers > 0) return;
    for (const { connection, release } of this.#transactions) {
      connection.lose();
      release();
    }
    const { wakeUps } = this.#open ?? {};
    this.#open = undefined;
    this.#opening = undefined;
    await wakeUps?.close();
  }

  async #connect(schema: Schema): Promise<void> {
    const connections = this.#connections;
    const names = this.#names;
    const tables = new Map(schema.collections.map((collection) => [collection.name, new Table(collection, names)]));
    const table = (name: string): Table => {
      const found = tables.get(name);
      if (found === undefined) throw new TypeError(`the schema has no collection ${name}`);
      return found;
    };
    const id = await connections.use(async (connection) => {
      await ensureSchema(connection, schema, names, this.#migrate);
      return databaseId(connection, names);
    });
    await connections.learn();
    const ground: Ground = { connections, names, table };
    const wakeUps = new WakeUps(connections, names);
    this.#open = {
      ...ground,
      wakeUps,
      groups: new Groups(ground, () => wakeUps.notify()),
      hosts: new HostTransactions(ground, id, wakeUps.hostNotice),
      admissions: new Admissions(connections, names),
    };
  }

  #opened(): Open {
    if (this.#open === undefined) throw new TidingsError("storage_unavailable", "The storage is not open.");
    return this.#open;
  }
}

/** Outside of groups nobody runs anything again. */
function refuse(error: unknown): never {
  if (!(error instanceof StorageConflict)) throw error;
  throw new TidingsError("storage_unavailable", "Another transaction keeps what is needed here.", { cause: error });
}
