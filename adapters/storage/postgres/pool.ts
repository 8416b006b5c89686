import { hasMethods, memberOf, TidingsError } from "../../../src/kernel/index.ts";
import { pause } from "../throttle.ts";
import { type Result, type Statement, unprepared } from "./batch.ts";
import {
  describeServer,
  Connection,
  isEventful,
  type PostgresPool,
  type PostgresPoolClient,
  socketOf,
} from "./connection.ts";
import { sqlState, toStorageError, unavailableError, unknownStatement } from "./errors.ts";
import type { Names, Table } from "./tables.ts";

/** How long to wait for a connection of the pool. */
const maxWaitMs = 10_000;

/** How long the server may take to respond once the engine should have stopped. */
const maxSilenceAtStopMs = 2_000;

/** What reads and writes need: the pool, and the names and tables of one schema. */
export interface StorageContext {
  readonly pool: ConnectionPool;
  readonly names: Names;
  readonly table: (name: string) => Table;
  /** The tables of all counters, in the order in which groups write them. */
  readonly counters: readonly Table[];
}

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
    guardAcquiredClients(pool);
    this.#server = describeServer(pool.options);
  }

  /** Converts an error of the driver to one that names the server and the database. */
  toError(error: unknown): unknown {
    return toStorageError(error, this.#server);
  }

  /**
   * @throws TidingsError `storage_unavailable` when no connection becomes free in time, or when the
   *   pool has been ended
   */
  async take(): Promise<PooledConnection> {
    const client = await this.#client();
    this.#taken.add(client);
    const connection = new Connection(client);
    // The pool handles errors only of idle connections. An error event without a listener would end
    // the process.
    connection.on("error", () => connection.lose());
    let released = false;
    return {
      connection,
      release: () => {
        if (released) return;
        released = true;
        this.#taken.delete(client);
        client.release(connection.lost);
        connection.removeListeners();
      },
    };
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
      if (sqlState(error) === "25006") connection.lose();
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

  #abandonedError(): TidingsError {
    return unavailableError(
      "The PostgreSQL server did not respond while the engine stopped.",
      this.#server,
    );
  }

  async #client(): Promise<PostgresPoolClient> {
    if (this.#isAbandoned) throw this.#abandonedError();
    if (memberOf(this.#pool, "ending") === true) {
      throw unavailableError(
        "The pool has been ended. Stop the engine before you end its pool, and create a new " +
          "engine with a new pool.",
        this.#server,
        { retryable: false },
      );
    }
    const taking = this.#pool.connect();
    let connecting = connectingClients(this.#pool);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setInterval(() => {
      reject(
        unavailableError(
          `No connection of the pool became free within ${maxWaitMs / 1_000} s.`,
          this.#server,
        ),
      );
      for (const client of connecting) endIfConnecting(client);
      connecting = connectingClients(this.#pool);
      // When a pool has ended, `pg` never answers those who still wait. The timer would keep the
      // process running.
      if (memberOf(this.#pool, "ended") === true) clearInterval(timer);
    }, maxWaitMs);
    const settled = (): void => clearInterval(timer);
    taking.then(settled, settled);
    this.#waiting.add(reject);
    try {
      return await Promise.race([taking, late]);
    } catch (error) {
      // A connection that comes too late goes back to the pool.
      taking.then(
        (client) => client.release(),
        () => {},
      );
      throw this.toError(error);
    } finally {
      this.#waiting.delete(reject);
    }
  }
}

/**
 * Returns the clients of a pool of `pg` that are connecting. Without its option
 * `connectionTimeoutMillis`, `pg` waits for ever for a server that accepts a connection and does
 * not respond, such as a proxy whose server has failed. These clients would keep all places of the
 * pool after the server is back.
 */
function connectingClients(pool: PostgresPool): readonly unknown[] {
  const clients = memberOf(pool, "_clients");
  return Array.isArray(clients) ? clients.filter(isConnecting) : [];
}

const isConnecting = (client: unknown): boolean => memberOf(client, "_connecting") === true;

/**
 * Ends the attempt to connect as `connectionTimeoutMillis` does. The pool then makes another one.
 */
function endIfConnecting(client: unknown): void {
  if (isConnecting(client)) destroySocket(client);
}

/** Ends a client of `pg` at once. Its queries fail. */
function destroySocket(client: unknown): void {
  const socket = socketOf(client);
  if (hasMethods(socket, "destroy")) (socket as Destroyable).destroy();
}

interface Destroyable {
  destroy(): void;
}

const guarded = new WeakSet<PostgresPool>();

function ignore(): void {}

/**
 * An error event without a listener ends the process. A pool of `pg` hands out a client, new or
 * idle, with no listener, and when the server is killed, the error can be in the same bytes as the
 * response that made the client free: before `take` can listen. Errors are ignored until these
 * bytes are processed, also for clients that the host application takes. The next statement of such
 * a client fails.
 */
function guardAcquiredClients(pool: PostgresPool): void {
  if (!isEventful(pool) || guarded.has(pool)) return;
  guarded.add(pool);
  pool.on("acquire", (client) => {
    if (typeof client !== "object" || client === null || !isEventful(client)) return;
    client.on("error", ignore);
    setImmediate(() => client.removeListener("error", ignore));
  });
}

/**
 * Calls `work` again if the host application had discarded the connection's prepared statements
 * (DISCARD ALL). The second call prepares them again. `undo` is called in between, for work that
 * does not roll back by itself.
 */
export async function againIfDiscarded<T>(
  work: () => Promise<T>,
  undo: () => Promise<void> = async () => {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== unknownStatement) throw error;
    await undo();
    return work();
  }
}

/** The statements that begin and end a transaction. */
export const begin = unprepared("BEGIN ISOLATION LEVEL READ COMMITTED");
export const commit = unprepared("COMMIT");
const rollback = unprepared("ROLLBACK");

async function runInTransaction(
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  try {
    const results = await connection.run([begin, ...statements, commit]);
    checkCommitted(results);
    return results.slice(1, -1);
  } catch (error) {
    await rollBack(connection);
    throw error;
  }
}

/**
 * Throws if a transaction was not committed. For COMMIT in a failed transaction, PostgreSQL reports
 * ROLLBACK without an error.
 */
export function checkCommitted(results: readonly Result[]): void {
  if (results.at(-1)?.tag !== "COMMIT") throw notCommitted();
}

export function notCommitted(): TidingsError {
  return new TidingsError(
    "storage_unavailable",
    "The transaction had already failed. Nothing in it was committed.",
  );
}

/** Rolls back. A connection where that fails is lost. Never throws. */
export async function rollBack(connection: Connection): Promise<void> {
  if (connection.lost) return;
  await connection.run([rollback]).catch(() => connection.lose());
}
