import { TidingsError } from "../../../../src/kernel/index.ts";
import type { OpenTransactions } from "../../open-transactions.ts";
import { commitError, endedEarly } from "../../transaction-errors.ts";
import type { PostgresClient } from "../connections/driver.ts";
import { PoolShare } from "../connections/pool-share.ts";
import type { ConnectionPool, PooledConnection } from "../connections/pool.ts";
import { begin, checkCommitted, commit, rollBack } from "../connections/transaction-control.ts";
import { failedTransaction, ignoredFailure, isEnded, sqlState } from "../errors.ts";
import { checkTransaction, markTransaction } from "./settings.ts";

/** Runs the transactions of `engine.transaction`, each on a connection of its own. */
export class EngineTransactions {
  readonly #pool: ConnectionPool;
  readonly #open: OpenTransactions;
  readonly #share: PoolShare;
  /** The connections that run the transactions. */
  readonly #taken = new Set<PooledConnection>();
  #isClosed = false;

  /** `connections`: how many transactions may be open at once. */
  constructor(pool: ConnectionPool, open: OpenTransactions, connections: number) {
    this.#pool = pool;
    this.#open = open;
    this.#share = new PoolShare({
      connections,
      refusal: () => this.#refusal(),
      exhausted: () => pool.clients.exhaustedError(),
    });
  }

  /**
   * Waits while too many other transactions are open, and for a connection: together up to 10 s.
   * @throws TidingsError `storage_unavailable` when that takes too long, or when the storage is
   *   closed or the pool is ended before `work` begins
   */
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T> {
    return this.#share.run((waitedMs) => this.#run(work, waitedMs));
  }

  async #run<T>(work: (client: PostgresClient) => Promise<T>, waitedMs: number): Promise<T> {
    const pooled = await this.#pool.take(waitedMs);
    const { connection, release } = pooled;
    this.#taken.add(pooled);
    try {
      if (this.#isClosed) throw closed();
      await connection.run([begin, markTransaction]).catch((error: unknown) => {
        throw this.#pool.toError(error);
      });
      const value = await this.#open.run(connection.client, work);
      // COMMIT succeeds without an open transaction, too, and in another one.
      const committed = connection.run([checkTransaction, commit]).catch((error: unknown) => {
        throw toCommitError(error, this.#pool);
      });
      checkCommitted(await committed);
      return value;
    } catch (error) {
      await rollBack(connection);
      // The work may still be running, and must not write into the next transaction.
      connection.lose();
      throw error;
    } finally {
      this.#taken.delete(pooled);
      release();
    }
  }

  #refusal(): TidingsError | undefined {
    return this.#isClosed ? closed() : this.#pool.clients.refusal();
  }

  /**
   * Ends the connections of open transactions, so that the server rolls back. Those that wait fail.
   */
  close(): void {
    this.#isClosed = true;
    for (const { connection, release } of this.#taken) {
      connection.lose();
      release();
    }
  }
}

function closed(): TidingsError {
  return new TidingsError("storage_unavailable", "The storage was closed.");
}

/** Converts the error of the COMMIT of a transaction with the host application's statements. */
function toCommitError(error: unknown, pool: ConnectionPool): unknown {
  if (isEnded(error)) return endedEarly();
  if (sqlState(error) === failedTransaction) return ignoredFailure();
  return commitError(error, pool.toError(error));
}
