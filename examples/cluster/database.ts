/**
 * The processes share one thing: a new PostgreSQL schema. It is created on the server in
 * `DATABASE_URL`, or on a temporary server that is installed from npm.
 */
import pg from "pg";
import { startPostgres } from "../../test/support/postgres/server.ts";

export interface StoredCounts {
  readonly messages: number;
  /** Messages with the status `delivered`. */
  readonly delivered: number;
}

export interface Database {
  readonly url: string;
  readonly schema: string;
  readonly serverVersion: string;
  /** Counts messages in the engine's tables, with plain SQL. */
  countMessages(): Promise<StoredCounts>;
  /** Drops the schema, and stops the temporary server. */
  close(): Promise<void>;
}

const schema = `tidings_cluster_${process.pid}`;

export async function openDatabase(): Promise<Database> {
  const givenUrl = process.env["DATABASE_URL"];
  const server = givenUrl === undefined ? await startPostgres() : undefined;
  const url = givenUrl ?? server?.url ?? "";
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  const { rows } = await pool.query<{ server_version: string }>("SHOW server_version");
  return {
    url,
    schema,
    serverVersion: rows[0]?.server_version ?? "",
    async countMessages() {
      const counts = await pool.query<{ messages: string; delivered: string }>(
        `SELECT count(*) AS messages, count(*) FILTER (WHERE status = 'delivered') AS delivered
           FROM ${schema}.tidings_messages`,
      );
      const [row] = counts.rows;
      return { messages: Number(row?.messages), delivered: Number(row?.delivered) };
    },
    async close() {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => {});
      await pool.end();
      await server?.[Symbol.asyncDispose]();
    },
  };
}
