/**
 * What is used of the host's driver: the pool and clients of `pg` have this shape (https://node-postgres.com/apis), and whatever else
 * has it will do.
 */
export interface PostgresPool {
  /** A client that is nobody else's until it is released. */
  connect(): Promise<PostgresPoolClient>;
  /** `max` is how many clients it has at most. */
  readonly options?: { readonly max?: number };
}

export interface PostgresPoolClient extends PostgresClient {
  /** Gives it back; `true`: it is not to be used again. */
  release(destroy?: boolean): void;
}

/** One connection. A host's transaction is joined through it. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>;
}

/** One statement; its values, also those of arrays, in PostgreSQL's own text format. */
export interface PostgresQuery {
  readonly text: string;
  readonly values: (string | null)[];
  /** Names a prepared statement; a driver without such may ignore it. */
  readonly name?: string;
  readonly rowMode: "array";
}

export interface PostgresResult {
  readonly rows: readonly (readonly unknown[])[];
  /** `COMMIT` and the like. */
  readonly command?: string;
}

/** What a client of `pg` has beyond that. All of it may be missing. */
export interface EventfulClient {
  on(event: string, listener: (argument: unknown) => void): unknown;
  removeListener(event: string, listener: (argument: unknown) => void): unknown;
}

export function isClient(value: unknown): value is PostgresClient {
  return (
    typeof value === "object" &&
    value !== null &&
    "query" in value &&
    typeof value.query === "function"
  );
}

export function isEventful(client: object): client is EventfulClient {
  return (
    "on" in client &&
    typeof client.on === "function" &&
    "removeListener" in client &&
    typeof client.removeListener === "function"
  );
}

/** `I`: no transaction is open, `T`: one is, `E`: one is and has failed; `undefined` where the driver can't tell. */
export function transactionStatus(client: object): unknown {
  if (!("getTransactionStatus" in client) || typeof client.getTransactionStatus !== "function") {
    return undefined;
  }
  return (client.getTransactionStatus as () => unknown)() ?? undefined;
}
