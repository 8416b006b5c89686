import { hasMethods, memberOf, TidingsError } from "../../../src/kernel/index.ts";
import { Batch, type Result, type Statement } from "./batch.ts";
import { isLost } from "./errors.ts";

/**
 * A connection pool, as this adapter uses it. A `Pool` of `pg` has this shape
 * (https://node-postgres.com/apis), and any object of the same shape works. `Client` is the type of
 * its clients.
 */
export interface PostgresPool<Client extends PostgresClient = PostgresClient> {
  /** Returns a client for exclusive use until it is released. */
  readonly connect: Connect<Client>;
  /** The options of the pool. */
  readonly options?: {
    /** The maximum number of clients that the pool has at a time. */
    readonly max?: number;
    /** The URL of the database. Errors name its host, port and database only. */
    readonly connectionString?: string | undefined;
    /** The host of the server. Errors name it. */
    readonly host?: string | undefined;
    /** The port of the server. Errors name it. */
    readonly port?: number | undefined;
    /** The name of the database. Errors name it. */
    readonly database?: string | undefined;
  };
}

/**
 * The method that takes a client from a pool. `pg` has a second form of it, which takes a callback.
 * TypeScript infers `Client` from the last form of a method, and with the first of these types from
 * the last but one.
 */
type Connect<Client> = {
  (): Promise<Client & PostgresPoolClient>;
  (...callback: never[]): unknown;
} & (() => Promise<Client & PostgresPoolClient>);

/** A client of the pool. */
export interface PostgresPoolClient extends PostgresClient {
  /** Returns the client to the pool. With `true` the pool closes it. */
  release(destroy?: boolean): void;
}

/**
 * One connection to the database. To join a transaction of the host application, pass the client
 * that runs it as `tx`.
 */
export interface PostgresClient {
  /** Runs one statement. */
  query(query: PostgresQuery): Promise<PostgresResult>;
}

/** One SQL statement. */
export interface PostgresQuery {
  /** SQL with the placeholders `$1`, `$2`, …. */
  readonly text: string;
  /**
   * One value for each placeholder, in PostgreSQL's text format, arrays included. `null` is SQL
   * NULL.
   */
  readonly values: (string | null)[];
  /** The name of a prepared statement. A driver without prepared statements can ignore it. */
  readonly name?: string;
  /** Rows have to be arrays in column order. */
  readonly rowMode: "array";
}

/** The result of one statement. */
export interface PostgresResult {
  /** The rows, each as an array in column order. */
  readonly rows: readonly (readonly unknown[])[];
  /** The command that was executed, such as `COMMIT`. */
  readonly command?: string;
}

/** The events of a `pg` client. Other drivers may lack them. */
export interface EventfulClient {
  on(event: string, listener: (argument: unknown) => void): unknown;
  removeListener(event: string, listener: (argument: unknown) => void): unknown;
}

/** Whether a value has the shape of a client. */
export function isClient(value: unknown): value is PostgresClient {
  return (
    typeof value === "object" &&
    value !== null &&
    "query" in value &&
    typeof value.query === "function"
  );
}

/** Whether a client has events. */
export function isEventful(client: object): client is EventfulClient {
  return (
    "on" in client &&
    typeof client.on === "function" &&
    "removeListener" in client &&
    typeof client.removeListener === "function"
  );
}

/**
 * Returns `I` when no transaction is open, `T` when one is, `E` when it has failed, and undefined
 * when the driver cannot tell.
 */
export function transactionStatus(client: object): unknown {
  if (!("getTransactionStatus" in client) || typeof client.getTransactionStatus !== "function") {
    return undefined;
  }
  return (client.getTransactionStatus as () => unknown)() ?? undefined;
}

/**
 * A server that does not respond for this long counts as gone. It is longer than every timeout that
 * is set on the server.
 */
const maxSilenceMs = 30_000;

/** The socket of a client of `pg`. Undefined for other drivers. */
export const socketOf = (client: unknown): unknown =>
  memberOf(memberOf(client, "connection"), "stream");

interface Probed {
  setKeepAlive(enable: boolean, initialDelayMs: number): unknown;
}

/** A connection that runs one batch of statements at a time. */
export class Connection {
  readonly client: PostgresClient;
  /** The client, if it can run batches. */
  readonly #batches: BatchingClient | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #lost = false;
  readonly #undo: (() => void)[] = [];

  constructor(client: PostgresClient) {
    this.client = client;
    this.#batches = canRunBatches(client) ? client : undefined;
  }

  /** The connection failed, or its state is unknown. It must not be used again. */
  get lost(): boolean {
    return this.#lost;
  }

  lose(): void {
    this.#lost = true;
  }

  /** Whether a batch outside a transaction is one transaction. */
  get batchesAreAtomic(): boolean {
    return this.#batches !== undefined;
  }

  /**
   * Runs statements in order, in one round trip if the driver supports it. After one that fails,
   * the rest are skipped. Waits for earlier batches.
   */
  run(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#next(() => withinSilence(this.#send(statements)));
  }

  /**
   * Like `run`, for statements that may take hours. Probes of the operating system tell whether the
   * server is still there. They also keep routers from dropping the silent connection.
   */
  runLong(statements: readonly Statement[]): Promise<readonly Result[]> {
    const socket = socketOf(this.client);
    if (hasMethods(socket, "setKeepAlive")) (socket as Probed).setKeepAlive(true, maxSilenceMs);
    return this.#next(() => this.#send(statements));
  }

  #next(work: () => Promise<readonly Result[]>): Promise<readonly Result[]> {
    const run = this.#last.then(work).catch((error: unknown) => {
      this.#lost ||= isLost(error);
      throw error;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  #send(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#batches === undefined
      ? this.#oneByOne(statements)
      : runBatch(this.#batches, statements);
  }

  async #oneByOne(statements: readonly Statement[]): Promise<readonly Result[]> {
    const results: Promise<Result>[] = [];
    for (const { text, values } of statements) {
      const query = this.client.query({ text, values: [...values], rowMode: "array" });
      const result = query.then(({ rows, command = "" }) => ({ rows, tag: command }));
      results.push(result);
      // After a failure, the remaining statements of the transaction fail too.
      if (sendsAhead(this.client)) result.catch(() => {});
      else await result;
    }
    await Promise.allSettled(results);
    return Promise.all(results);
  }

  /** Listens until the connection is returned. Does nothing if the driver has no events. */
  on(event: "notification" | "error" | "end", listener: (argument: unknown) => void): void {
    const { client } = this;
    if (!isEventful(client)) return;
    client.on(event, listener);
    this.#undo.push(() => client.removeListener(event, listener));
  }

  /** Removes all listeners, when the connection is returned. */
  removeListeners(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

interface BatchingClient {
  query(batch: Batch): unknown;
}

/** @throws TidingsError `storage_unavailable` when the results do not come in time */
async function withinSilence<T>(results: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new TidingsError(
          "storage_unavailable",
          `The PostgreSQL server did not respond within ${maxSilenceMs / 1_000} s.`,
        ),
      );
    }, maxSilenceMs);
  });
  try {
    return await Promise.race([results, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function runBatch(
  client: BatchingClient,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  return new Promise((resolve, reject) => {
    const batch = new Batch(statements, (error, results = []) => {
      if (error === null) resolve(results);
      else reject(error);
    });
    client.query(batch);
  });
}

/**
 * Whether a `pg` client is set to send queries before earlier ones are answered. It does so only
 * with its own queries.
 */
const sendsAhead = (client: object): boolean => "pipeline" in client && client.pipeline === true;

function canRunBatches(client: object): client is BatchingClient {
  if (sendsAhead(client)) return false;
  if (
    !("connection" in client) ||
    typeof client.connection !== "object" ||
    client.connection === null
  ) {
    return false;
  }
  const { connection } = client;
  return ["parse", "bind", "execute", "sync"].every(
    (name) => typeof Reflect.get(connection, name) === "function",
  );
}

/**
 * Describes the server and the database that a pool connects to, without the user and the password.
 * Empty if the options of the pool name neither.
 */
export function describeServer(options: PostgresPool["options"] = {}): string {
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
