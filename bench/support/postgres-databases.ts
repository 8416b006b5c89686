import { postgres } from "../../adapters/storage/postgres/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { makeDatabase, type Database } from "../../test/support/postgres/temporary-database.ts";
import { withEngineOn, type dispatcherSettings } from "./engines.ts";

/** The size of every contender's connection pool. */
export const poolSize = 10;

/** Calls `use` with a new, empty database. `server` is the URL of a superuser. */
export async function withDatabase<T>(
  server: string,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  await using database = await makeDatabase(server);
  return await use(database);
}

/** Calls `use` with an engine on a new database. */
export function withPostgresEngine<T>(
  server: string,
  use: (engine: MessagingEngine) => Promise<T>,
  options?: typeof dispatcherSettings,
): Promise<T> {
  return withDatabase(server, (database) =>
    withEngineOn(postgres({ pool: database.pool({ max: poolSize }) }), use, options),
  );
}
