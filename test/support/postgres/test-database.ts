/** Databases on the test run's PostgreSQL server. */
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { schema } from "../../../src/modules.ts";
import { askFor } from "../setup/on-demand.ts";
import { makeDatabase, onServer, urlOf, type Database } from "./temporary-database.ts";

/** An empty database, or a copy of `template`. It is removed when the test has finished. */
export async function database(template?: string): Promise<Database> {
  const made = await makeDatabase(await serverUrl(), template);
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** A template database with the engine's schema. Copying it is faster than migrating each one. */
export function migrated(): Promise<string> {
  return (template ??= makeTemplate());
}

let template: Promise<string> | undefined;

async function makeTemplate(): Promise<string> {
  const { template: name } = inject("postgres");
  const server = await serverUrl();
  await onServer(server, async (client) => {
    // One process creates it while the others wait for the lock.
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
    if (rowCount !== 0) return;
    await client.query(`CREATE DATABASE ${name}`);
    const pool = new pg.Pool({ connectionString: urlOf(server, name), max: 1 });
    await postgres({ pool }).migrate(schema);
    await pool.end();
  });
  return name;
}

let server: Promise<string> | undefined;

/** The URL of the server, as a role that may create databases. */
export function serverUrl(): Promise<string> {
  server ??= askFor(inject("postgres").locator);
  return server;
}
