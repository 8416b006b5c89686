/**
 * What this adapter does with the objects of `pg` beyond their documented interface. With objects
 * of other drivers, each function does nothing.
 */
import { hasMethods, memberOf } from "../../../src/kernel/index.ts";
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

const guarded = new WeakSet<PostgresPool>();

function ignore(): void {}

/**
 * An error event without a listener ends the process. A pool of `pg` hands out a client, new or
 * idle, with no listener, and when the server is killed, the error can be in the same bytes as the
 * response that made the client free: before `ConnectionPool` can listen. Errors are ignored until
 * these bytes are processed, also for clients that the host application takes. The next statement
 * of such a client fails.
 */
export function guardAcquiredClients(pool: PostgresPool): void {
  if (!isEventful(pool) || guarded.has(pool)) return;
  guarded.add(pool);
  pool.on("acquire", (client) => {
    if (typeof client !== "object" || client === null || !isEventful(client)) return;
    client.on("error", ignore);
    setImmediate(() => client.removeListener("error", ignore));
  });
}
