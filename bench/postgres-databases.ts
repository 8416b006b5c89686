import { postgres } from "../adapters/storage/postgres/index.ts";
import type { MessagingEngine } from "../src/engine.ts";
import { type Database, makeDatabase } from "../test/support/postgres-database.ts";
import { withEngineOn } from "./engines.ts";

export type JobsAtOnce = typeof busy;

/** For a dispatcher that has nothing to do but this: one account has as many jobs at once as there are callers. */
export const busy = { concurrency: 256, laneConcurrency: 256 } as const;

/** Connections that whoever is measured has. */
export const poolSize = 10;

/** A database of its own for whatever is measured, empty. `server` is the URL of a superuser's. */
export async function withDatabase<T>(
  server: string,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  await using database = await makeDatabase(server);
  return await use(database);
}

/** An engine on a database of its own. */
export function withPostgresEngine<T>(
  server: string,
  use: (engine: MessagingEngine) => Promise<T>,
  jobs?: JobsAtOnce,
): Promise<T> {
  return withDatabase(server, (database) =>
    withEngineOn(postgres({ pool: database.pool({ max: poolSize }) }), use, jobs),
  );
}
