import type { TidingsError } from "../../../src/kernel/index.ts";
import { pause } from "../pause.ts";
import { Connection } from "./connection.ts";
import { describeServer } from "./describe-server.ts";
import type { PostgresPool, PostgresPoolClient } from "./driver.ts";
import { isReadOnly, toStorageError, unavailableError } from "./errors.ts";
import {
  connectingClients,
  destroySocket,
  endIfConnecting,
  hasEnded,
  isEnding,
  isInTransaction,
  prepareAcquiredClients,
} from "./pg-internals.ts";
import { type Result, type Statement, unprepared } from "./statement.ts";
import { againIfDiscarded, runInTransaction } from "./transaction-control.ts";

/** How long to wait for a connection of the pool. */
const maxWaitMs = 10_000;

/** How often to check during such a wait whether the pool has been ended. */
const checkMs = 500;

/** How long the server may take to respond once the engine should have stopped. */
const maxSilenceAtStopMs = 2_000;

/** A connection that was taken from the pool. */
export interface PooledConnection {
  readonly connection: Connection;
  /** Returns it to the pool. A lost connection is destroyed instead. */
  readonly release: () => void;
}

/** Takes connections from the host application's pool and runs statements on them. */
export class ConnectionPool {
  readonly #pool: PostgresPool;
  readonly #server: string;
  /**
   * Whether a batch without BEGIN runs at READ COMMITTED. The database may have another default, so
   * it is read at the start.
   */
  #defaultIsReadCommitted = false;
  readonly #taken = new Set<PostgresPoolClient>();
  /** Functions that reject those who wait for a connection. */
  readonly #waiting = new Set<(error: TidingsError) => void>();
  #isAbandoned = false;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
    prepareAcquiredClients(pool);
    this.#server = describeServer(pool.options);
  }

  /** Converts an error of the driver to one that names the server and the database. */
  toError(error: unknown): unknown {
    return toStorageError(error, this.#server);
  }

  /**
   * @throws TidingsError `storage_unavailable` when no connection becomes free in time, when the
   *   pool has been ended, or when the host application returned a connection inside a transaction
   */
  async take(): Promise<PooledConnection> {
    const client = await this.#client();
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

  /** Until `reopen`, lets all calls fail if the server does not respond. */
  async abandonIfSilent(): Promise<void> {
    const settled = new AbortController();
    const answer = this.use((connection) => connection.run([{ text: "SELECT 1", values: [] }]));
    const end = (): void => settled.abort();
    answer.then(end, end);
    await pause(maxSilenceAtStopMs, settled.signal);
    if (settled.signal.aborted) return;
    this.#isAbandoned = true;
    for (const reject of this.#waiting) reject(this.#abandonedError());
    for (const client of this.#taken) destroySocket(client);
  }

  reopen(): void {
    this.#isAbandoned = false;
  }

  /** Why no connection can be taken any more, if that is so. */
  #refusal(): TidingsError | undefined {
    if (this.#isAbandoned) return this.#abandonedError();
    if (!isEnding(this.#pool)) return undefined;
    return unavailableError(
      "The pool has been ended. Stop the engine before you end its pool, and create a new engine " +
        "with a new pool.",
      this.#server,
      { retryable: false },
    );
  }

  #abandonedError(): TidingsError {
    return unavailableError(
      "The PostgreSQL server did not respond while the engine stopped.",
      this.#server,
    );
  }

  async #client(): Promise<PostgresPoolClient> {
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    const taking = this.#pool.connect();
    const { promise: refused, reject: refuse } = Promise.withResolvers<never>();
    this.#waiting.add(refuse);
    this.#watch(taking, refuse);
    try {
      return await Promise.race([taking, refused]);
    } catch (error) {
      // A connection that comes too late goes back to the pool.
      taking.then(
        (client) => client.release(),
        () => {},
      );
      throw this.toError(error);
    } finally {
      this.#waiting.delete(refuse);
    }
  }

  /**
   * Calls `refuse` if `taking` has not settled when the pool is ended, or after `maxWaitMs`. `pg`
   * never answers those who wait for a connection of a pool that has been ended.
   */
  #watch(taking: Promise<unknown>, refuse: (error: TidingsError) => void): void {
    let connecting = connectingClients(this.#pool);
    let waitedMs = 0;
    const timer = setInterval(() => {
      const refusal = this.#refusal();
      if (refusal !== undefined) refuse(refusal);
      // `taking` never settles then, and the timer would keep the process running.
      if (hasEnded(this.#pool)) clearInterval(timer);
      waitedMs += checkMs;
      if (waitedMs % maxWaitMs > 0) return;
      refuse(this.#lateError());
      // These attempts to connect may never end by themselves.
      for (const client of connecting) endIfConnecting(client);
      connecting = connectingClients(this.#pool);
    }, checkMs);
    const settled = (): void => clearInterval(timer);
    taking.then(settled, settled);
  }

  #lateError(): TidingsError {
    return unavailableError(
      `No connection of the pool became free within ${maxWaitMs / 1_000} s.`,
      this.#server,
    );
  }
}
