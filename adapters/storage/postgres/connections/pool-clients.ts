import type { TidingsError } from "../../../../src/kernel/index.ts";
import { toStorageError, unavailableError } from "../errors.ts";
import type { PostgresPool, PostgresPoolClient } from "./driver.ts";
import { connectingClients, endIfConnecting, hasEnded, isEnding } from "./pg-internals.ts";

/** How long to wait for a client, in milliseconds. */
export const maxWaitMs = 10_000;

/**
 * How often to check whether the pool has been ended, in milliseconds. `pg` has no event for it.
 */
export const checkMs = 500;

/** A request to the pool for a client. `pg` cannot cancel one. */
interface Request {
  readonly client: Promise<PostgresPoolClient>;
  /** Refuses the caller that waits for the client. */
  refuse: (error: TidingsError) => void;
  /** How long this caller has waited. */
  waitedMs: number;
}

/** Takes clients from the host application's pool. Limits every wait, which `pg` does not. */
export class PoolClients {
  readonly #pool: PostgresPool;
  readonly #server: string;
  /** The requests that the pool has not answered. */
  readonly #requests = new Set<Request>();
  /**
   * Those whose callers have given up, the oldest first. The next callers take them over. Otherwise
   * each call during an outage would leave one more request in the pool.
   */
  readonly #unclaimed = new Set<Request>();
  #isAbandoned = false;

  /** `server` describes the server and the database, for errors. */
  constructor(pool: PostgresPool, server: string) {
    this.#pool = pool;
    this.#server = server;
  }

  /**
   * `waitedMs`: how long the caller has waited elsewhere, a multiple of `checkMs`.
   * @throws TidingsError `storage_unavailable` when no client becomes free in time, when the pool
   *   has been ended, or after `abandon`
   */
  async take(waitedMs: number): Promise<PostgresPoolClient> {
    const refusal = this.refusal();
    if (refusal !== undefined) throw refusal;
    const { promise: refused, reject: refuse } = Promise.withResolvers<never>();
    const request = this.#claim(refuse, waitedMs);
    try {
      return await Promise.race([request.client, refused]);
    } catch (error) {
      this.#leave(request);
      throw toStorageError(error, this.#server);
    }
  }

  /** Whether the host application has begun to end the pool. */
  get isEnding(): boolean {
    return isEnding(this.#pool);
  }

  /**
   * Calls `listener` soon after the host application has begun to end the pool. Returns a function
   * that removes the listener.
   */
  onEnd(listener: () => void): () => void {
    const timer = setInterval(() => {
      if (!this.isEnding) return;
      clearInterval(timer);
      listener();
    }, checkMs).unref();
    return () => clearInterval(timer);
  }

  /** Until `reopen`, refuses those who wait for a client and those who come later. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const { refuse } of this.#requests) refuse(this.#abandonedError());
  }

  reopen(): void {
    this.#isAbandoned = false;
  }

  /** Returns the oldest request that nobody waits for, or a new one. */
  #claim(refuse: Request["refuse"], waitedMs: number): Request {
    const [oldest] = this.#unclaimed;
    if (oldest !== undefined) {
      this.#unclaimed.delete(oldest);
      return Object.assign(oldest, { refuse, waitedMs });
    }
    const request = { client: this.#connect(), refuse, waitedMs };
    this.#requests.add(request);
    this.#watch(request);
    return request;
  }

  /** Leaves a request to the next caller. A client that comes first goes back to the pool. */
  #leave(request: Request): void {
    this.#unclaimed.add(request);
    request.client.then(
      (client) => {
        if (this.#unclaimed.delete(request)) client.release();
      },
      () => this.#unclaimed.delete(request),
    );
  }

  /** Rejects also if `pg` throws at once, for example because it cannot read a certificate. */
  async #connect(): Promise<PostgresPoolClient> {
    return this.#pool.connect();
  }

  /** Why nobody can take a client any more. Undefined if clients can be taken. */
  refusal(): TidingsError | undefined {
    if (this.#isAbandoned) return this.#abandonedError();
    return this.isEnding ? this.#endedError() : undefined;
  }

  /**
   * Refuses the caller of a request when the pool is ended, or after `maxWaitMs`. `pg` never
   * answers those who wait for a client of a pool that has been ended.
   */
  #watch(request: Request): void {
    let connecting = connectingClients(this.#pool);
    let watchedMs = 0;
    const timer = setInterval(() => {
      const refusal = this.refusal();
      if (refusal !== undefined) request.refuse(refusal);
      // The request is never answered then, and the timer would keep the process running.
      if (hasEnded(this.#pool)) clearInterval(timer);
      request.waitedMs += checkMs;
      if (request.waitedMs === maxWaitMs) {
        const isConnecting = connectingClients(this.#pool).length > 0;
        request.refuse(isConnecting ? this.#notConnectedError() : this.exhaustedError());
      }
      watchedMs += checkMs;
      if (watchedMs % maxWaitMs > 0) return;
      // These attempts to connect may never end by themselves.
      for (const client of connecting) endIfConnecting(client);
      connecting = connectingClients(this.#pool);
    }, checkMs);
    const settled = (): void => {
      clearInterval(timer);
      this.#requests.delete(request);
    };
    request.client.then(settled, settled);
  }

  #abandonedError(): TidingsError {
    return unavailableError(
      "The engine stopped and did not wait longer for the PostgreSQL server.",
      this.#server,
    );
  }

  #endedError(): TidingsError {
    return unavailableError(
      "The pool has been ended. Stop the engine before you end its pool, and create a new engine " +
        "with a new pool.",
      this.#server,
      { retryable: false },
    );
  }

  #notConnectedError(): TidingsError {
    return unavailableError(
      `The PostgreSQL server accepted no connection within ${maxWaitMs / 1_000} s.`,
      this.#server,
    );
  }

  /** The error for a caller for which no client became free in time. */
  exhaustedError(): TidingsError {
    return unavailableError(
      `No connection of the pool became free within ${maxWaitMs / 1_000} s. Release each client ` +
        "that you take from it, or give the pool more connections.",
      this.#server,
    );
  }
}
