import { booleanOption, option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { StoragePort } from "../../../src/ports/index.ts";
import { isPool, type PostgresClient, type PostgresPool } from "./connections/driver.ts";
import { Names } from "./names.ts";
import { PostgresStorage } from "./storage.ts";

export type {
  PostgresClient,
  PostgresConnect,
  PostgresPool,
  PostgresPoolClient,
  PostgresQuery,
  PostgresResult,
} from "./connections/driver.ts";

/** Options of `postgres()`. `Client` is the type of the pool's clients. */
export interface PostgresOptions<Client extends PostgresClient = PostgresClient> {
  /**
   * A `Pool` of `pg`, or an object of the same shape. The host application owns it: closing the
   * engine does not end it. The engine uses several connections at once, so give it at least 5. It
   * does not open with fewer than 2.
   */
  readonly pool: PostgresPool<Client>;
  /**
   * The PostgreSQL schema of the tables: up to 63 lower-case letters, digits and underscores, not
   * beginning with a digit or `pg_`. A migration creates it if it does not exist.
   * @default "public"
   */
  readonly schema?: string | undefined;
  /**
   * Whether opening migrates an empty or older database. If false, opening such a database fails
   * with `storage_outdated`.
   * @default true
   */
  readonly migrate?: boolean | undefined;
}

const optionsSchema = optionsObject(
  {
    pool: option<PostgresPool>("a pg Pool, such as new pg.Pool({ connectionString })", isPool),
    schema: option<string>(
      "the name of a schema in lower-case letters, digits and underscores, up to 63 characters",
      (schema) => typeof schema === "string" && /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(schema),
      {
        isQuoted: true,
        advice: (schema) =>
          String(schema).startsWith("pg_")
            ? ". PostgreSQL reserves names that begin with pg_."
            : "",
      },
    ).default("public"),
    migrate: booleanOption.default(true),
  },
  "{ pool }, a pg Pool",
);

/**
 * Returns a storage in a PostgreSQL database (version 14 or later, encoding UTF8), on the host
 * application's own pool. Any number of processes can use one database.
 *
 * To join a transaction of the host application, pass its client as `tx`. `Client` is the type of
 * the clients that `engine.transaction` passes to its callback. It is inferred from the pool.
 *
 * Text is stored as it is, with one exception. PostgreSQL cannot store U+0000, so it is stored as
 * U+0001 U+0001, and U+0001 is stored as U+0001 U+0002.
 * @throws TidingsError `invalid_option` when an option is missing, wrong or unknown
 */
export function postgres<Client extends PostgresClient = PostgresClient>(
  options: PostgresOptions<Client>,
): StoragePort<Client> {
  const { pool, schema, migrate } = parseOptions("postgres: ", optionsSchema, options);
  return new PostgresStorage<Client>(pool, new Names(schema), migrate);
}
