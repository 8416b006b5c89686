import type { TidingsError } from "../../../../src/kernel/index.ts";
import { toStorageError, unavailableError } from "../errors.ts";
import type { PostgresPool, PostgresPoolClient } from "./driver.ts";
import { connectingClients, endIfConnecting, hasEnded, isEnding } from "./pg-internals.ts";

/** How long to wait for a client. */
const maxWaitMs = 10_000;

/** How often to check whether the pool has been ended. `pg` has no event for it. */
const checkMs = 500;

/** Takes clients from the host application's pool. Limits every wait, which `pg` does not. */
export class PoolClients {
  readonly #pool: PostgresPool;
  readonly #server: string;
  /** Functions that reject those who wait for a client. */
  readonly #waiting = new Set<(error: TidingsError) => void>();
  #isAbandoned = false;

  /** `server` describes the server and the database, for errors. */
  constructor(pool: PostgresPool, server: string) {
    this.#pool = pool;
    this.#server = server;
  }

  /**
   * @throws TidingsError `storage_unavailable` when no client becomes free in time, when the pool
   *   has been ended, or after `abandon`
   */
  async take(): Promise<PostgresPoolClient> {
    const refusal = this.#refusal();
    if (refusal !== undefined) throw refusal;
    const taking = this.#connect();
    const { promise: refused, reject: refuse } = Promise.withResolvers<never>();
    this.#waiting.add(refuse);
    this.#watch(taking, refuse);
    try {
      return await Promise.race([taking, refused]);
    } catch (error) {
      // A client that comes too late goes back to the pool.
      taking.then(
        (client) => client.release(),
        () => {},
      );
      throw toStorageError(error, this.#server);
    } finally {
      this.#waiting.delete(refuse);
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
    for (const refuse of this.#waiting) refuse(this.#abandonedError());
  }

  reopen(): void {
    this.#isAbandoned = false;
  }

  /** Rejects also if `pg` throws at once, for example because it cannot read a certificate. */
  async #connect(): Promise<PostgresPoolClient> {
    return this.#pool.connect();
  }

  /** Why nobody can take a client any more. Undefined if clients can be taken. */
  #refusal(): TidingsError | undefined {
    if (this.#isAbandoned) return this.#abandonedError();
    return this.isEnding ? this.#endedError() : undefined;
  }

  /**
   * Calls `refuse` if `taking` has not settled when the pool is ended, or after `maxWaitMs`. `pg`
   * never answers those who wait for a client of a pool that has been ended.
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
      const isConnecting = connectingClients(this.#pool).length > 0;
      refuse(isConnecting ? this.#notConnectedError() : this.#exhaustedError());
      // These attempts to connect may never end by themselves.
      for (const client of connecting) endIfConnecting(client);
      connecting = connectingClients(this.#pool);
    }, checkMs);
    const settled = (): void => clearInterval(timer);
    taking.then(settled, settled);
  }

  #abandonedError(): TidingsError {
    return unavailableError(
      "The PostgreSQL server did not respond while the engine stopped.",
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

  #exhaustedError(): TidingsError {
    return unavailableError(
      `No connection of the pool became free within ${maxWaitMs / 1_000} s. Release each client ` +
        "that you take from it, or give the pool more connections.",
      this.#server,
    );
  }
}
