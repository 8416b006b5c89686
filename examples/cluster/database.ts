/** The one thing that the processes share: a PostgreSQL schema of its own, on the server of `DATABASE_URL` or on one from npm. */
import pg from "pg";
import { startPostgres } from "../../test/support/postgres-server.ts";

export interface Kept {
  readonly messages: number;
  /** Of those, what the engine knows to be delivered. */
  readonly delivered: number;
}

export interface Database {
  readonly url: string;
  readonly schema: string;
  readonly server: string;
  /** What any host can ask of the engine's tables. */
  kept(): Promise<Kept>;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

const schema = `tidings_cluster_${process.pid}`;

export async function openDatabase(): Promise<Database> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startPostgres() : undefined;
  const url = given ?? server?.url ?? "";
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on("error", () => {});
  return {
    url,
    schema,
    server:
      (await pool.query<{ server_version: string }>("SHOW server_version")).rows[0]
        ?.server_version ?? "",
    async kept() {
      const { rows } = await pool.query<{ messages: string; delivered: string }>(
        `SELECT count(*) AS messages, count(*) FILTER (WHERE status = 'delivered') AS delivered
           FROM ${schema}.tidings_messages`,
      );
      return { messages: Number(rows[0]?.messages), delivered: Number(rows[0]?.delivered) };
    },
    async close() {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => {});
      await pool.end();
      await server?.[Symbol.asyncDispose]();
    },
  };
}
