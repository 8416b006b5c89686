/** One PostgreSQL server for a whole run of the tests, started when the first of them asks for it. `DATABASE_URL` uses that instead. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { onServer } from "./postgres-database.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly postgres: {
      /** Answers the URL of the server, when that runs. */
      readonly desk: string;
      /** The name of a database with the engine's schema; made by the first who needs it. */
      readonly template: string;
    };
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const given = process.env["DATABASE_URL"];
  const url = async (): Promise<string> =>
    given ?? (await (server ??= startPostgres({ syncs: false }))).url;

  const desk = createServer((_, response) => {
    void url().then(
      (answer) => response.end(answer),
      (error: unknown) => response.writeHead(503).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
  const template = `tidings_template_${randomUUID().replaceAll("-", "")}`;
  project.provide("postgres", {
    desk: `http://127.0.0.1:${(desk.address() as AddressInfo).port}`,
    template,
  });

  return async () => {
    desk.close();
    if (given !== undefined) {
      await onServer(given, (client) => client.query(`DROP DATABASE IF EXISTS ${template}`));
    }
    await (await server)?.[Symbol.asyncDispose]();
  };
}
