import { isReadOnly, toStorageError, unavailableError } from "../errors.ts";
import { Connection } from "./connection.ts";
import type { PostgresPool, PostgresPoolClient } from "./driver.ts";
import { destroySocket, isInTransaction, prepareAcquiredClients } from "./pg-internals.ts";
import { PoolClients } from "./pool-clients.ts";
import { unprepared, type Result, type Statement } from "./statement.ts";
import { againIfDiscarded, runInTransaction } from "./transaction-control.ts";

/** A connection that was taken from the pool. */
export interface PooledConnection {
  readonly connection: Connection;
  /** Returns it to the pool. A lost connection is destroyed instead. */
  readonly release: () => void;
}

/** Takes connections from the host application's pool and runs statements on them. */
export class ConnectionPool {
  /** The clients of the pool, and whether they can still be taken. */
  readonly clients: PoolClients;
  readonly #server: string;
  readonly #taken = new Set<PostgresPoolClient>();
  /**
   * Whether a batch without BEGIN runs at READ COMMITTED. The database may have another default, so
   * it is read at the start.
   */
  #defaultIsReadCommitted = false;

  constructor(pool: PostgresPool) {
    prepareAcquiredClients(pool);
    this.#server = describeServer(pool.options);
    this.clients = new PoolClients(pool, this.#server);
  }

  /** Converts an error of the driver to one that names the server and the database. */
  toError(error: unknown): unknown {
    return toStorageError(error, this.#server);
  }

  /**
   * `waitedMs`: as in `PoolClients.take`.
   * @throws TidingsError `storage_unavailable` for the reasons of `PoolClients.take`, or when the
   *   host application returned the connection inside a transaction
   */
  async take(waitedMs = 0): Promise<PooledConnection> {
    const client = await this.clients.take(waitedMs);
    this.#taken.add(client);
    const connection = new Connection(client);
    // The pool handles errors only of idle connections. An error event without a listener would end
    // the process.
    connection.on("error", () => connection.lose());
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#taken.delete(client);
      client.release(connection.isLost);
      connection.removeListeners();
    };
    try {
      await this.#refuseOpenTransaction(connection);
    } catch (error) {
      connection.lose();
      release();
      throw this.toError(error);
    }
    return { connection, release };
  }

  /**
   * What the engine writes must not become part of a transaction that the host application forgot:
   * nobody commits it.
   */
  async #refuseOpenTransaction(connection: Connection): Promise<void> {
    if (!isInTransaction(connection.client)) return;
    // The end of the transaction may be under way, if the host application did not wait for it.
    await connection.run([unprepared("")]).catch((error: unknown) => {
      // A transaction that has failed refuses every statement.
      if (connection.isLost) throw error;
    });
    if (!isInTransaction(connection.client)) return;
    throw unavailableError(
      "The application returned a connection to the pool with an open transaction, so the engine " +
        "closed the connection. Run all statements of a transaction on one client, and end it " +
        "with COMMIT or ROLLBACK before you release the client.",
      this.#server,
    );
  }

  /**
   * Calls `work` with a connection and returns the connection afterwards. Converts errors. May call
   * `work` again, so if it fails inside a transaction, it must roll back.
   */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { connection, release } = await this.take();
    try {
      return await againIfDiscarded(() => work(connection));
    } catch (error) {
      // Only this session may be read-only: it began on a standby, or before the database was made
      // writable again. The next one may not be.
      if (isReadOnly(error)) connection.lose();
      throw this.toError(error);
    } finally {
      release();
    }
  }

  /**
   * Runs statements in a READ COMMITTED transaction of their own, in one round trip if the driver
   * supports it.
   */
  atomic(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.use((connection) =>
      connection.batchesAreAtomic && this.#defaultIsReadCommitted
        ? connection.run(statements)
        : runInTransaction(connection, statements),
    );
  }

  /** Reads the database's defaults. Called once, when the storage opens. */
  async readDefaults(): Promise<void> {
    const [read] = await this.use((connection) =>
      connection.run([{ text: "SHOW default_transaction_isolation", values: [] }]),
    );
    this.#defaultIsReadCommitted = read?.rows[0]?.[0] === "read committed";
  }

  /** Makes the calls in progress fail, and all later ones until the clients are reopened. */
  abandon(): void {
    this.clients.abandon();
    for (const client of this.#taken) destroySocket(client);
  }
}

/**
 * Describes the server and the database that a pool connects to, without the user and the password.
 * Empty if the options of the pool name neither.
 */
function describeServer(options: PostgresPool["options"] = {}): string {
  const given = options.connectionString;
  const url = given !== undefined && URL.canParse(given) ? new URL(given) : undefined;
  const host = url?.searchParams.get("host") ?? (url?.hostname || options.host);
  const port = url?.port || options.port;
  const database = decoded(url?.pathname.slice(1) ?? "") || options.database;
  const place = port === undefined ? host : `${host ?? "the default host"}:${port}`;
  if (database === undefined) return place === undefined ? "" : `The server is ${place}.`;
  return `The database is ${database}${place === undefined ? "" : ` at ${place}`}.`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
