/** Databases of one's own on a PostgreSQL server. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { PostgresProxy } from "./postgres-proxy.ts";

export interface Database extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** One more pool, with 5 connections at most; closed when the database is removed. */
  pool(options?: pg.PoolConfig): pg.Pool;
  /** What a pool can be led through: `pool({ connectionString: proxy.url })`. */
  proxy(): Promise<PostgresProxy>;
}

/** An empty database on the server, or a copy of another. Disposing of it removes it, whoever is still connected. */
export async function makeDatabase(server: string, template = "template1"): Promise<Database> {
  const name = `tidings_test_${randomUUID().replaceAll("-", "")}`;
  const { query } = maintenanceOf(server);
  // Copying files is less than half the work of writing each page to the log.
  await query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = urlOf(server, name);
  const opened: (() => Promise<void>)[] = [];
  return {
    name,
    url,
    pool(options = {}) {
      const pool = new pg.Pool({ connectionString: url, max: 5, ...options });
      // An idle connection may be cut by what is tested; without a listener that would end the process.
      pool.on("error", () => {});
      // A pool's end doesn't wait for its sessions'; and where one is still about to end, the server waits 100 ms before it looks again.
      const sessions: Promise<void>[] = [];
      pool.on("connect", (client) =>
        sessions.push(new Promise((resolve) => client.once("end", resolve))),
      );
      opened.push(async () => {
        if (!pool.ending) await pool.end();
        await Promise.all(sessions);
      });
      return pool;
    },
    async proxy() {
      const proxy = await PostgresProxy.open(url);
      opened.push(() => proxy[Symbol.asyncDispose]());
      return proxy;
    },
    async [Symbol.asyncDispose]() {
      for (const close of opened.toReversed()) await close();
      await query(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

const maintenance = new Map<string, { readonly query: (sql: string) => Promise<unknown> }>();

/** A connection that this process keeps to each server, to make and remove databases by. */
function maintenanceOf(server: string): { readonly query: (sql: string) => Promise<unknown> } {
  let known = maintenance.get(server);
  if (known === undefined) {
    const pool = new pg.Pool({
      connectionString: server,
      max: 1,
      idleTimeoutMillis: 0,
      allowExitOnIdle: true,
    });
    // The server may end before this process does.
    pool.on("error", () => {});
    known = { query: (sql) => pool.query(sql) };
    maintenance.set(server, known);
  }
  return known;
}

/** Another database of the same server. */
export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

/** Runs `work` on a connection to the database that the server's URL names. */
export async function onServer(
  server: string,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
