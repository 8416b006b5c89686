import pRetry from "p-retry";
import { pause } from "../../pause.ts";
import type { Connection } from "./connection.ts";
import type { ConnectionPool, PooledConnection } from "./pool.ts";

/**
 * The pauses before a new connection is tried: the first, and the longest after failures. The
 * longest is well below the time in which an engine has to take its lock again.
 */
const firstPauseMs = 100;
const maxPauseMs = 400;
/** How often to query the server, to detect a connection that broke silently. */
const keepAliveMs = 30_000;

/** What needs one connection for a long time: notifications, and the locks of engines. */
export interface SessionUser {
  /** Called with each new connection. When it rejects, another connection is tried. */
  begin(connection: Connection): Promise<void>;
  /** Called with the connection every 30 seconds. */
  keepAlive?(connection: Connection): Promise<void>;
  /** Called when the connection has ended. */
  end?(): void;
}

interface Current {
  readonly connection: Connection;
  readonly end: () => void;
}

/** Keeps a connection of its own while it has users, and replaces it when it ends. */
export class Session {
  readonly #pool: ConnectionPool;
  readonly #users = new Set<SessionUser>();
  /** Ends the connection, and the attempts to replace it. Undefined while there are no users. */
  #closing: AbortController | undefined;
  /** The connection, from the time when all users have begun. */
  #current: Current | undefined;
  /** Whether an attempt to connect is under way. Between attempts there are pauses. */
  #isConnecting = false;
  /** Functions that resolve calls of `join`, when the attempt to connect succeeds or fails. */
  readonly #joining: (() => void)[] = [];

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /**
   * Adds a user. Resolves when the user has begun, or when it cannot begin now: an attempt to
   * connect has failed, and further attempts follow. Never rejects.
   */
  async join(user: SessionUser): Promise<void> {
    if (this.#users.has(user)) return;
    this.#users.add(user);
    if (this.#current !== undefined) {
      await user.begin(this.#current.connection).catch(this.#current.end);
      return;
    }
    if (this.#closing === undefined) {
      this.#closing = new AbortController();
      this.#isConnecting = true;
      void this.#keepConnected(this.#closing.signal);
    }
    // The timer of a pause does not keep the process alive, so nobody may wait for its end.
    if (this.#isConnecting) await new Promise<void>((resolve) => this.#joining.push(resolve));
  }

  /** Removes a user. Ends the connection when no user is left. */
  leave(user: SessionUser): void {
    this.#users.delete(user);
    if (this.#users.size > 0) return;
    this.#closing?.abort();
    this.#closing = undefined;
    this.#current = undefined;
    this.#endAttempt();
  }

  /** Connects again whenever the connection ends, until there are no users. */
  async #keepConnected(signal: AbortSignal): Promise<void> {
    // A pool that has been ended gives no connection again.
    while (!signal.aborted && !this.#pool.clients.isEnding) {
      await pRetry(() => this.#useConnection(signal), {
        retries: Infinity,
        minTimeout: firstPauseMs,
        maxTimeout: maxPauseMs,
        unref: true,
        shouldRetry: () => !this.#pool.clients.isEnding,
        signal,
      }).catch(() => {});
      await pause(firstPauseMs, signal);
    }
  }

  /** Connects, and keeps the connection until it ends. Rejects if the users cannot begin. */
  async #useConnection(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener("abort", end);
    // The pool does not end before the connection is returned.
    const removeListener = this.#pool.clients.onEnd(end);
    let pooled: PooledConnection | undefined;
    this.#isConnecting = true;
    try {
      pooled = await this.#pool.take();
      const { connection } = pooled;
      connection.on("error", end);
      connection.on("end", end);
      // Includes users that join meanwhile.
      for (const user of this.#users) {
        if (!signal.aborted) await user.begin(connection);
      }
      // All users have left. Those that joined since have another connection.
      if (signal.aborted) return;
      this.#current = { connection, end };
      this.#endAttempt();
      while (!ended.signal.aborted) {
        await pause(keepAliveMs, ended.signal);
        if (!ended.signal.aborted) await this.#keepAlive(connection).catch(end);
      }
    } finally {
      signal.removeEventListener("abort", end);
      removeListener();
      // A connection that listens or holds locks must not go back to the pool.
      pooled?.connection.lose();
      pooled?.release();
      if (!signal.aborted) this.#ended();
    }
  }

  #ended(): void {
    this.#current = undefined;
    for (const user of this.#users) user.end?.();
    this.#endAttempt();
  }

  #endAttempt(): void {
    this.#isConnecting = false;
    for (const resolve of this.#joining.splice(0)) resolve();
  }

  async #keepAlive(connection: Connection): Promise<void> {
    await connection.run([{ text: "SELECT 1", values: [] }]);
    for (const user of this.#users) await user.keepAlive?.(connection);
  }
}
