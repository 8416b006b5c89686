/**
 * One PostgreSQL server for a whole test run. It starts when the first test needs it. If
 * `DATABASE_URL` is set, the tests use that server instead.
 */
import { randomUUID } from "node:crypto";
import type { TestProject } from "vitest/node";
import { startPostgres, type PostgresServer } from "../postgres/server.ts";
import { onServer } from "../postgres/temporary-database.ts";
import { onDemand } from "./on-demand.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: {
      /** The URL of an HTTP endpoint that returns the server's URL, once the server runs. */
      readonly locator: string;
      /**
       * The name of a database with the engine's schema. The first test that needs it creates it.
       * The names of the databases that tests share begin with it.
       */
      readonly template: string;
    };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const given = process.env["DATABASE_URL"];
  const url = async (): Promise<string> =>
    given ?? (await (server ??= startPostgres({ syncs: false }))).url;

  const locator = await onDemand(url);
  const template = `tidings_template_${randomUUID().replaceAll("-", "")}`;
  project.provide("postgres", { locator: locator.url, template });

  return async () => {
    locator.close();
    if (given !== undefined) {
      await onServer(given, async (client) => {
        const { rows } = await client.query<{ name: string }>(
          "SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)",
          [template],
        );
        for (const { name } of rows) await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      });
    }
    await (await server)?.[Symbol.asyncDispose]();
  };
}
