import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { PostgresProxy, Statement } from "../../support/postgres/proxy.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { makeDatabase } from "../../support/postgres/temporary-database.ts";
import type { Dice } from "../dice.ts";
import { databaseView, type DatabaseView, type Query } from "./database-view.ts";
import type { CrashedStorage, Mishap } from "./storages.ts";

/**
 * PostgreSQL: the server that `DATABASE_URL` names, or one of its own. The engines connect through
 * a proxy that can cut their connections. The judge connects directly.
 */
export async function crashedPostgres(): Promise<CrashedStorage> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await makeDatabase(server?.url ?? given ?? "");
  const proxy = await database.proxy();
  const pool = database.pool({ max: 2 });
  const ownServer = server && new OwnServer(server);
  const view = (): DatabaseView => databaseView(queryOn(pool), () => Promise.resolve());
  return {
    name: "postgres",
    processes: 3,
    settings: { kind: "postgres", url: proxy.url },
    mishaps: {
      kill: { weight: 4 },
      ...(ownServer === undefined ? {} : { "server killed": serverKilled(ownServer) }),
    },
    view,
    // A kill of an engine cannot damage the server's files, so the live database is inspected.
    inspectAfterKill: async () => ({ view: view(), damage: [] }),
    breakConnections: (dice) => breakConnections(proxy, ownServer, dice),
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    },
  };
}

/** A server that the test may kill. It is stopped and started by one at a time. */
class OwnServer {
  readonly #server: PostgresServer;
  #last: Promise<void> = Promise.resolve();
  #isKilled = false;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  kill(): Promise<void> {
    return this.#alone(async () => {
      this.#isKilled = true;
      await this.#server.kill();
    });
  }

  /** Starts the server after a kill. */
  restart(): Promise<void> {
    return this.#alone(async () => {
      await this.#server.start();
      this.#isKilled = false;
    });
  }

  /** Stops the server at once and starts it again. Does nothing while it is killed. */
  crash(): Promise<void> {
    return this.#alone(async () => {
      if (this.#isKilled) return;
      await this.#server.stop("immediate");
      await this.#server.start();
    });
  }

  #alone(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }
}

function serverKilled(server: OwnServer): Mishap & { readonly weight: number } {
  return { weight: 1, before: () => server.kill(), after: () => server.restart() };
}

/** Returns a function that runs SQL, and waits while the server is down. */
function queryOn(pool: pg.Pool): Query {
  return async (sql, ...values) => {
    for (;;) {
      try {
        const { rows } = await pool.query<Record<string, unknown>>(sql.replaceAll("?", "$1"), [
          ...values,
        ]);
        return rows;
      } catch (error) {
        if (!isDown(error)) throw error;
        await sleep(50);
      }
    }
  };
}

/** How connections are cut, and how likely each way is. */
const breaks = {
  all: 4,
  "before a write": 6,
  "after a write": 6,
  "for a while": 2,
  "a crash": 1,
} as const;

async function breakConnections(
  proxy: PostgresProxy,
  server: OwnServer | undefined,
  dice: Dice,
): Promise<void> {
  switch (dice.pick(breaks)) {
    case "all":
      proxy.cut();
      return;
    case "a crash":
      await server?.crash();
      return;
    case "before a write":
      await Promise.race([proxy.cutAt(isWrite, "before"), sleep(1_000)]);
      return;
    case "after a write":
      await Promise.race([proxy.cutAt(isWrite, "after"), sleep(1_000)]);
      return;
    case "for a while":
      proxy.refuses = true;
      proxy.cut();
      await sleep(dice.between(20, 600));
      proxy.refuses = false;
  }
}

function isWrite({ sql }: Statement): boolean {
  return /\b(INSERT INTO|UPDATE|DELETE FROM)\b/.test(sql);
}

/** Whether the server is down for now. The judge waits until it is back. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return String(error).includes("terminated");
  return ["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE"].includes(
    String(error.code),
  );
}
