import { startPostgres } from "../test/support/postgres-server.ts";
import { postgresDelivery } from "./postgres-delivery.ts";
import { postgresLink } from "./postgres-link.ts";
import { postgresProcesses } from "./postgres-processes.ts";
import { postgresSends } from "./postgres-sends.ts";

/** All PostgreSQL benchmarks, on a server that flushes commits to the disk (`fsync` is on). */
export async function postgres(): Promise<string> {
  await using server = await startPostgres();
  const summaries: string[] = [];
  for (const benchmark of [postgresSends, postgresDelivery, postgresProcesses, postgresLink]) {
    summaries.push(await benchmark(server.url));
  }
  return `PostgreSQL: ${summaries.join(", ")}`;
}
