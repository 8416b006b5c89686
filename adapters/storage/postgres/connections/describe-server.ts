import type { PostgresPool } from "./driver.ts";

/**
 * Describes the server and the database that a pool connects to, without the user and the password.
 * Empty if the options of the pool name neither.
 */
export function describeServer(options: PostgresPool["options"] = {}): string {
  const given = options.connectionString;
  const url = given !== undefined && URL.canParse(given) ? new URL(given) : undefined;
  const host = url?.searchParams.get("host") ?? (url?.hostname || options.host);
  const port = url?.port || options.port;
  const database = decoded(url?.pathname.slice(1) ?? "") || options.database;
  const place = port === undefined ? host : `${host ?? "the default host"}:${port}`;
  if (database === undefined) return place === undefined ? "" : `The server is ${place}.`;
  return `The database is ${database}${place === undefined ? "" : ` at ${place}`}.`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
