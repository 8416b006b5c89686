import { startPostgres } from "../../test/support/postgres/server.ts";
import { postgresDelivery } from "./delivery.ts";
import { postgresLink } from "./link.ts";
import { postgresProcesses } from "./processes.ts";
import { postgresSends } from "./sends.ts";

/** All PostgreSQL benchmarks, on a server that flushes commits to the disk (`fsync` is on). */
export async function postgres(): Promise<string> {
  await using server = await startPostgres();
  const summaries: string[] = [];
  for (const benchmark of [postgresSends, postgresDelivery, postgresProcesses, postgresLink]) {
    summaries.push(await benchmark(server.url));
  }
  return `PostgreSQL: ${summaries.join(", ")}`;
}
