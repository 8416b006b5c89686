/**
 * What this adapter does with the objects of `pg` beyond their documented interface. With objects
 * of other drivers, each function does nothing, or returns what leaves the storage as it is.
 */
import { hasMethods, memberOf } from "../../../../src/kernel/index.ts";
import { isEventful, type PostgresPool } from "./driver.ts";

/**
 * Returns the clients of a pool that are connecting. Without its option `connectionTimeoutMillis`,
 * `pg` waits for ever for a server that accepts a connection and does not respond, such as a proxy
 * whose server has failed. These clients would keep all places of the pool after the server is
 * back.
 */
export function connectingClients(pool: PostgresPool): readonly unknown[] {
  const clients = memberOf(pool, "_clients");
  return Array.isArray(clients) ? clients.filter(isConnecting) : [];
}

const isConnecting = (client: unknown): boolean => memberOf(client, "_connecting") === true;

/**
 * Ends the attempt to connect as `connectionTimeoutMillis` does. The pool then makes another one.
 */
export function endIfConnecting(client: unknown): void {
  if (isConnecting(client)) destroySocket(client);
}

/** Whether the host application has begun to end a pool. */
export const isEnding = (pool: PostgresPool): boolean => memberOf(pool, "ending") === true;

/** Whether a pool has ended. `pg` then never answers those who still wait for a client. */
export const hasEnded = (pool: PostgresPool): boolean => memberOf(pool, "ended") === true;

const socketOf = (client: unknown): unknown => memberOf(memberOf(client, "connection"), "stream");

interface Socket {
  destroy(): void;
  setKeepAlive(enable: boolean, initialDelayMs: number): unknown;
}

/** Ends a client at once. Its queries fail. */
export function destroySocket(client: unknown): void {
  const socket = socketOf(client);
  if (hasMethods(socket, "destroy")) (socket as Socket).destroy();
}

/** Lets the operating system probe whether the server is still there. */
export function keepSocketAlive(client: unknown, initialDelayMs: number): void {
  const socket = socketOf(client);
  if (hasMethods(socket, "setKeepAlive")) (socket as Socket).setKeepAlive(true, initialDelayMs);
}

/**
 * Whether a client is set to send queries before earlier ones are answered. It does so only with
 * its own queries.
 */
export const sendsAhead = (client: object): boolean =>
  "pipeline" in client && client.pipeline === true;

/** Whether a client that sends ahead has sent queries that are not answered yet. */
export const awaitsAnswers = (client: object): boolean =>
  memberOf(client, "readyForQuery") === false;

/**
 * Returns `I` when no transaction is open, `T` when one is, `E` when it has failed, and undefined
 * when the driver cannot tell.
 */
export function transactionStatus(client: object): unknown {
  return reportedStatus(client) ?? followed.get(client)?.status;
}

function reportedStatus(client: object): unknown {
  if (!hasMethods(client, "getTransactionStatus")) return undefined;
  try {
    return (client as StatusClient).getTransactionStatus();
  } catch {
    // A client of `pg.native` has this method although old versions of `pg-native` lack theirs.
    return undefined;
  }
}

interface StatusClient {
  getTransactionStatus(): unknown;
}

/** Whether a transaction is open, failed or not. False when the driver cannot tell. */
export function isInTransaction(client: object): boolean {
  const status = transactionStatus(client);
  return status === "T" || status === "E";
}

const prepared = new WeakSet<PostgresPool>();

/** Prepares each client that a pool hands out, also those that the host application takes. */
export function prepareAcquiredClients(pool: PostgresPool): void {
  if (!isEventful(pool) || prepared.has(pool)) return;
  prepared.add(pool);
  pool.on("acquire", (client) => {
    if (typeof client !== "object" || client === null) return;
    ignoreEarlyErrors(client);
    followStatus(client);
  });
}

/**
 * An error event without a listener ends the process. A pool of `pg` hands out a client, new or
 * idle, with no listener, and when the server is killed, the error can be in the same bytes as the
 * response that made the client free: before `ConnectionPool` can listen. Errors are ignored until
 * these bytes are processed. The next statement of such a client fails.
 */
function ignoreEarlyErrors(client: object): void {
  // Waiting callers that gave up return a client at once, so the pool may hand it out many times.
  if (!isEventful(client) || ignoring.has(client)) return;
  ignoring.add(client);
  client.on("error", ignore);
  setImmediate(() => {
    client.removeListener("error", ignore);
    ignoring.delete(client);
  });
}

/** The clients whose errors are ignored now. */
const ignoring = new WeakSet<object>();

function ignore(): void {}

/** The status of the transactions of clients whose driver has no method for it. */
const followed = new WeakMap<object, { status: unknown }>();

/** Follows the status of a client, which the versions of `pg` before 8.21 do not tell. */
function followStatus(client: object): void {
  const connection = memberOf(client, "connection");
  if (followed.has(client) || !hasMethods(connection, "prependListener")) return;
  const transaction = { status: undefined as unknown };
  followed.set(client, transaction);
  // The status has to be known before the client's own listener calls the host application.
  (connection as NodeJS.EventEmitter).prependListener("readyForQuery", (message: unknown) => {
    transaction.status = memberOf(message, "status");
  });
}
