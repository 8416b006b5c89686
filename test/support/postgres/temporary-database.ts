/** Temporary databases on a PostgreSQL server. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { PostgresProxy } from "./proxy.ts";

export interface Database extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** A new pool of up to 5 connections. It is closed when the database is removed. */
  pool(options?: pg.PoolConfig): pg.Pool;
  /** A proxy to the database: `pool({ connectionString: proxy.url })`. */
  proxy(): Promise<PostgresProxy>;
}

/** An empty database, or a copy of `template`. Disposing of it removes it, even while in use. */
export async function makeDatabase(
  server: string,
  template = "template1",
  name = `tidings_test_${randomUUID().replaceAll("-", "")}`,
): Promise<Database> {
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
      // Tests cut idle connections. An error without a listener would end the process.
      pool.on("error", () => {});
      // `pool.end()` does not wait for its sessions to close, and DROP DATABASE takes 100 ms longer
      // while one is still closing.
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

/** The URL of another database on the same server. */
export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

/** Runs `work` on a connection to the database in the server's URL. */
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
