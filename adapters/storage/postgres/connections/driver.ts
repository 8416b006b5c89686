/**
 * What this adapter needs of a driver for PostgreSQL. `pg` provides all of it. What is optional
 * makes the storage faster or its errors more precise.
 */
import { hasMethods } from "../../../../src/kernel/index.ts";

/**
 * A connection pool, as this adapter uses it. A `Pool` of `pg` has this shape
 * (https://node-postgres.com/apis), and any object of the same shape works. `Client` is the type of
 * its clients.
 */
export interface PostgresPool<Client extends PostgresClient = PostgresClient> {
  /** Returns a client for exclusive use until it is released. */
  readonly connect: PostgresConnect<Client>;
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
export type PostgresConnect<Client> = {
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

/**
 * Whether a value has the shape of a pool. A `Client` of `pg` also has `connect`, but only a client
 * has `escapeIdentifier`.
 */
export function isPool(value: unknown): boolean {
  return hasMethods(value, "connect") && !hasMethods(value, "escapeIdentifier");
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
