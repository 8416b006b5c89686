import { TidingsError } from "../../../src/kernel/errors.ts";
import { sqlState, translated, unprepared } from "./errors.ts";
import type { Result, Statement } from "./session/batch.ts";
import type { PostgresPool, PostgresPoolClient } from "./session/client.ts";
import { Connection } from "./session/connection.ts";

/** How long to wait for a connection of the pool. */
const patienceMs = 10_000;

/** A connection that was taken from the pool. */
export interface Taken {
  readonly connection: Connection;
  /** Gives it back; one that was lost is destroyed. */
  readonly release: () => void;
}

/** Connections of the host's pool. */
export class Connections {
  readonly #pool: PostgresPool;
  /** Whether a batch outside of a transaction is READ COMMITTED, as is usual. Not taken for granted. */
  #defaultIsReadCommitted = false;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** @throws TidingsError `storage_unavailable` */
  async take(): Promise<Taken> {
    const client = await this.#client();
    const connection = new Connection(client);
    // The pool listens to idle ones only, and an error without a listener would end the process.
    connection.on("error", () => connection.lose());
    let released = false;
    return {
      connection,
      release: () => {
        if (released) return;
        released = true;
        client.release(connection.lost);
        connection.retire();
      },
    };
  }

  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { connection, release } = await this.take();
    try {
      return await work(connection);
    } catch (error) {
      // Read-only may be this session alone: it began on a standby, or before the database was set to take writes again.
      if (sqlState(error) === "25006") connection.lose();
      throw translated(error);
    } finally {
      release();
    }
  }

  /** Runs statements in a transaction of their own, READ COMMITTED, in one round trip where the driver can. */
  atomic(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.use(async (connection) => {
      const bare = connection.batchesAreAtomic && this.#defaultIsReadCommitted;
      const run = () => (bare ? connection.run(statements) : wrapped(connection, statements));
      try {
        return await run();
      } catch (error) {
        // The host had the connection forget what was prepared on it: nothing was done, and the next time it is prepared anew.
        if (sqlState(error) !== unprepared) throw error;
        return run();
      }
    });
  }

  async learn(): Promise<void> {
    const [read] = await this.use((connection) =>
      connection.run([{ text: "SHOW default_transaction_isolation", values: [] }]),
    );
    this.#defaultIsReadCommitted = read?.rows[0]?.[0] === "read committed";
  }

  async #client(): Promise<PostgresPoolClient> {
    let timer: NodeJS.Timeout | undefined;
    const connecting = this.#pool.connect();
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new TidingsError("storage_unavailable", "No connection of the pool came free."));
      }, patienceMs);
    });
    try {
      return await Promise.race([connecting, late]);
    } catch (error) {
      // One that comes after all is for the next who asks.
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw translated(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

export const begin: Statement = { text: "BEGIN ISOLATION LEVEL READ COMMITTED", values: [] };
export const commit: Statement = { text: "COMMIT", values: [] };
export const rollback: Statement = { text: "ROLLBACK", values: [] };

async function wrapped(
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly Result[]> {
  try {
    const results = await connection.run([begin, ...statements, commit]);
    committed(results);
    return results.slice(1, -1);
  } catch (error) {
    await rolledBack(connection);
    throw error;
  }
}

/** COMMIT of a transaction that has failed is answered ROLLBACK, and without an error. */
export function committed(results: readonly Result[]): void {
  if (results.at(-1)?.tag === "COMMIT") return;
  throw new TidingsError(
    "storage_unavailable",
    "The transaction had failed, so that nothing of it was committed.",
  );
}

/** Never throws. */
export async function rolledBack(connection: Connection): Promise<void> {
  if (connection.lost) return;
  await connection.run([rollback]).catch(() => connection.lose());
}
