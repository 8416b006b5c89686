/** Connects to PostgreSQL with the package `pg` of the user's project. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { hasMethods, memberOf } from "../../../src/kernel/index.ts";
import { postgres, type PostgresPool } from "../../storage/postgres/index.ts";
import { Failure, systemCode, UsageError } from "../failures.ts";
import { note, oneLine, yellow } from "../terminal.ts";
import type { Database } from "./database.ts";

/** The part of a `pg` Pool that commands use besides the storage. */
interface Pool extends PostgresPool {
  query(query: { readonly text: string; readonly rowMode: "array" }): Promise<{
    readonly rows: readonly (readonly unknown[])[];
  }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** How long to wait for a connection, in milliseconds. */
const connectMs = 10_000;
/** The engine uses several connections at once. */
const connections = 5;

/**
 * Returns the database of a URL. Connects at the first use.
 * @throws UsageError when the URL or the schema is malformed, and Failure when `pg` is not
 *   installed
 */
export function postgresDatabase(url: string, schema: string | undefined, usage: string): Database {
  const parsed = URL.parse(url);
  if (parsed === null || !["postgres:", "postgresql:"].includes(parsed.protocol)) {
    throw new UsageError("--database needs a URL such as postgres://user@host/name.", usage);
  }
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    const what = "up to 63 lower-case letters, digits and underscores";
    throw new UsageError(`--schema needs ${what}, got "${oneLine(schema)}".`, usage);
  }
  const Pool = loadPool();
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    max: connections,
  });
  pool.on("error", (error) => note(`${yellow("PostgreSQL:")} ${oneLine(error.message, 200)}`));
  parsed.password = "";
  parsed.search = "";
  const name = parsed.href;
  return {
    name,
    file: undefined,
    storage: ({ migrate }) =>
      postgres({ pool, migrate, ...(schema === undefined ? {} : { schema }) }),
    table: (table) => `${schema ?? "public"}.tidings_${table}`,
    async query(text) {
      try {
        (await pool.connect()).release();
      } catch (error) {
        throw unreachable(name, error);
      }
      try {
        return (await pool.query({ text, rowMode: "array" })).rows;
      } catch (error) {
        throw isFromServer(error) ? error : unreachable(name, error);
      }
    },
    close: () => pool.end(),
  };
}

/** PostgreSQL's own errors have a severity, in the language of the server. */
const isFromServer = (error: unknown): boolean => memberOf(error, "severity") !== undefined;

function unreachable(name: string, error: unknown): Failure {
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [error];
  const why = first instanceof Error ? first.message : String(first);
  return new Failure(
    `${name} cannot be reached: ${why}.`,
    "Check the URL, the password, and that the server runs.",
  );
}

type PoolConstructor = new (options: {
  readonly connectionString: string;
  readonly connectionTimeoutMillis: number;
  readonly max: number;
}) => Pool;

/** Looks in the folder of the user first, then where this package is installed. */
function loadPool(): PoolConstructor {
  for (const from of [pathToFileURL(join(process.cwd(), "/")).href, import.meta.url]) {
    const Pool = poolFrom(from);
    if (Pool !== undefined) return Pool;
  }
  throw new Failure(
    "--database needs the package pg, and it is not installed here.",
    "Install it in this project:  npm install pg",
  );
}

function poolFrom(place: string): PoolConstructor | undefined {
  try {
    const loaded: unknown = createRequire(place)("pg");
    const Pool: unknown = memberOf(loaded, "Pool");
    if (typeof Pool !== "function" || !hasMethods(Pool.prototype, "connect", "query", "end")) {
      return undefined;
    }
    // The check covers what commands use of it.
    return Pool as PoolConstructor;
  } catch (error) {
    if (systemCode(error) === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
