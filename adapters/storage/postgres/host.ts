import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Group, Write } from "../../../src/ports/storage.ts";
import { sqlState, translated } from "./errors.ts";
import type { Ground } from "./groups.ts";
import { planLookups } from "./lookups.ts";
import { databaseId } from "./migrations.ts";
import { waitingPosition } from "./positions.ts";
import type { Statement } from "./session/batch.ts";
import { isClient, type PostgresClient, transactionStatus } from "./session/client.ts";
import { Connection } from "./session/connection.ts";
import { enterHost, leaveHost } from "./settings.ts";
import { planWrites } from "./writes.ts";

const savepoint: Statement = { text: "SAVEPOINT tidings", values: [] };
const release: Statement = { text: "RELEASE SAVEPOINT tidings", values: [] };
const undo: readonly Statement[] = [{ text: "ROLLBACK TO SAVEPOINT tidings", values: [] }, release];

/** Groups within transactions that the host has open, on clients of its own to the same database. */
export class HostTransactions {
  readonly #ground: Ground;
  /** What `tidings_schema` says that the storage's database is called. */
  readonly #id: string | undefined;
  readonly #notice: Statement;
  readonly #connections = new WeakMap<PostgresClient, Connection>();
  readonly #known = new WeakSet<Connection>();

  /** `notice` tells other processes of the commit, when it comes. */
  constructor(ground: Ground, id: string | undefined, notice: Statement) {
    this.#ground = ground;
    this.#id = id;
    this.#notice = notice;
  }

  group(handle: unknown): Group {
    const connection = this.#connection(handle);
    const { table } = this.#ground;
    return {
      read: async (lookups) => {
        await this.#verify(connection);
        const { statements, rows } = planLookups(lookups, table);
        return rows(await joined(() => connection.run(statements)));
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
        `expected a client of the database with a transaction open, got ${typeof handle}`,
      );
    }
    const status = transactionStatus(handle);
    if (status === "I") throw invalidHandle("the client has no transaction open: BEGIN first");
    if (status === "E") throw invalidHandle("the client's transaction has failed: roll it back");
    let connection = this.#connections.get(handle);
    if (connection === undefined) {
      this.#connections.set(handle, (connection = new Connection(handle)));
    }
    return connection;
  }

  /** @throws TidingsError `invalid_option` the client is on another database, or another schema's storage is meant */
  async #verify(connection: Connection): Promise<void> {
    if (this.#known.has(connection)) return;
    const id = await joined(() => databaseId(connection, this.#ground.names));
    if (id !== this.#id) {
      throw invalidHandle("the client is connected to another database than the storage");
    }
    this.#known.add(connection);
  }

  async #write(connection: Connection, writes: readonly Write[]): Promise<void> {
    const { table, names } = this.#ground;
    const { rows, logs } = planWrites(writes, table, waitingPosition(names));
    try {
      const statements = [savepoint, enterHost, ...rows, ...logs, this.#notice, leaveHost, release];
      await joined(() => connection.run(statements));
    } catch (error) {
      // Outside of a transaction there was no savepoint, and nothing is left to undo.
      if (!connection.lost) await connection.run(undo).catch(() => {});
      throw error;
    }
  }
}

async function joined<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const state = sqlState(error);
    if (state === "25P01") throw invalidHandle("the client has no transaction open: BEGIN first");
    if (state === "25P02") throw invalidHandle("the client's transaction has failed: roll it back");
    throw translated(error);
  }
}

function invalidHandle(what: string): TidingsError {
  return new TidingsError("invalid_option", `tx: ${what}`);
}
