import { describe, getOrInsert, type TidingsError } from "../../../../src/kernel/index.ts";
import { StorageConflict, type Group, type Write } from "../../../../src/ports/index.ts";
import type { OpenTransactions } from "../../open-transactions.ts";
import { endedEarly, invalidHandle } from "../../transaction-errors.ts";
import { Connection } from "../connections/connection.ts";
import { isClient, isPool, type PostgresClient } from "../connections/driver.ts";
import { transactionStatus } from "../connections/pg-internals.ts";
import { unprepared, type Result, type Statement } from "../connections/statement.ts";
import { againIfDiscarded } from "../connections/transaction-control.ts";
import type { StorageContext } from "../context.ts";
import {
  failedTransaction,
  ignoredFailure,
  lastsForTransaction,
  noTransaction,
  sqlState,
} from "../errors.ts";
import { planLookups } from "../reads/lookups.ts";
import { databaseId } from "../tables/migrations.ts";
import { pendingAdditions } from "../writes/pending-counts.ts";
import { unplacedPosition } from "../writes/positions.ts";
import { planWrites } from "../writes/writes.ts";
import { enterHost, leaveHost } from "./settings.ts";

const savepoint = unprepared("SAVEPOINT tidings");
const release = unprepared("RELEASE SAVEPOINT tidings");
const undo: readonly Statement[] = [unprepared("ROLLBACK TO SAVEPOINT tidings"), release];

/** Groups inside transactions that the host application opened on its own clients. */
export class HostGroups {
  readonly #context: StorageContext;
  /** The id of the storage's database, from its schema table. */
  readonly #id: string | undefined;
  readonly #notification: Statement;
  /** The transactions of `engine.transaction`. Errors in these give other advice. */
  readonly #engineTransactions: OpenTransactions;
  readonly #connections = new WeakMap<PostgresClient, Connection>();
  readonly #verified = new WeakSet<Connection>();

  /** `notification` notifies other processes when the host application commits. */
  constructor(
    context: StorageContext,
    id: string | undefined,
    notification: Statement,
    engineTransactions: OpenTransactions,
  ) {
    this.#context = context;
    this.#id = id;
    this.#notification = notification;
    this.#engineTransactions = engineTransactions;
  }

  group(handle: unknown): Group {
    const connection = this.#connection(handle);
    const { tableOf } = this.#context;
    return {
      read: async (lookups) => {
        await this.#verify(connection);
        const { statements, toRows } = planLookups(lookups, tableOf);
        return toRows(await this.#read(connection, statements));
      },
      commit: async (writes) => {
        await this.#verify(connection);
        await this.#write(connection, writes);
      },
      abort() {},
    };
  }

  #connection(handle: unknown): Connection {
    if (!isClient(handle)) {
      throw invalidHandle(
        `expected a client of the database with an open transaction, got ${describe(handle)}`,
      );
    }
    // A pool may run each statement on another connection.
    if (isPool(handle)) {
      throw invalidHandle(
        "expected a client with an open transaction, got a pool: get a client with pool.connect()",
      );
    }
    const status = transactionStatus(handle);
    if (status === "I") throw this.#ended(handle);
    if (status === "E") throw this.#failed(handle);
    return getOrInsert(this.#connections, handle, () => new Connection(handle));
  }

  /**
   * @throws TidingsError `invalid_option` when the client is connected to another database, or the
   *   storage's tables are in another schema
   */
  async #verify(connection: Connection): Promise<void> {
    if (this.#verified.has(connection)) return;
    const run = (statements: readonly Statement[]) => this.#read(connection, statements);
    const id = await databaseId({ run }, this.#context.names);
    if (id !== this.#id) {
      throw invalidHandle(
        "expected a client of the storage's database, got one of another database",
      );
    }
    this.#verified.add(connection);
  }

  async #write(connection: Connection, writes: readonly Write[]): Promise<void> {
    const { tableOf, names } = this.#context;
    const { rows, logs } = planWrites(writes, tableOf, {
      position: unplacedPosition(names),
      beforeLog: () => [],
      add: pendingAdditions(names),
    });
    await this.#undoable(connection, [enterHost, ...rows, ...logs, this.#notification, leaveHost]);
  }

  async #read(
    connection: Connection,
    statements: readonly Statement[],
  ): Promise<readonly Result[]> {
    // Only a batch has prepared statements. Without batches a savepoint takes two more round trips.
    if (connection.batchesAreAtomic) return this.#undoable(connection, statements);
    return this.#translateErrors(connection, () => connection.run(statements));
  }

  /** Runs statements so that the host application's transaction stays usable when they fail. */
  async #undoable(
    connection: Connection,
    statements: readonly Statement[],
  ): Promise<readonly Result[]> {
    const run = async (): Promise<readonly Result[]> => {
      try {
        return (await connection.runInside([savepoint, ...statements, release])).slice(1, -1);
      } catch (error) {
        // Without an open transaction there was no savepoint, and nothing has to be undone. A
        // transaction that had failed before must not be touched: another engine may be about to
        // roll back to its savepoint.
        if (!connection.isLost && sqlState(error) !== failedTransaction) {
          await connection.run(undo).catch((failure: unknown) => {
            // The transaction is lost with its connection, so the command cannot run again in it.
            if (connection.isLost) throw failure;
          });
        }
        throw error;
      }
    };
    return this.#translateErrors(connection, () => againIfDiscarded(run));
  }

  async #translateErrors<T>(
    { client, batchesAreAtomic }: Connection,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const state = sqlState(error);
      if (state === noTransaction) throw this.#ended(client);
      if (state === failedTransaction) throw this.#failed(client);
      const failure = this.#context.pool.toError(error);
      // Handles of query builders run no batches. Some of their drivers roll the whole transaction
      // back if any statement has failed.
      const canRunAgain = batchesAreAtomic && !lastsForTransaction(error);
      throw failure instanceof StorageConflict && !canRunAgain ? lasting(failure) : failure;
    }
  }

  #ended(client: PostgresClient): TidingsError {
    return this.#engineTransactions.has(client)
      ? endedEarly()
      : invalidHandle("expected a client with an open transaction: run BEGIN first");
  }

  #failed(client: PostgresClient): TidingsError {
    return this.#engineTransactions.has(client)
      ? ignoredFailure()
      : invalidHandle("the client's transaction has failed: roll it back first");
  }
}

/** Marks a conflict after which the command must not run again in its transaction. */
function lasting(cause: StorageConflict): StorageConflict {
  return new StorageConflict(cause.message, { cause, lastsForTransaction: true });
}
