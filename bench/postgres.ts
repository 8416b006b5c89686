import { startPostgres } from "../test/support/postgres-server.ts";
import { postgresDelivery } from "./postgres-delivery.ts";
import { postgresLink } from "./postgres-link.ts";
import { postgresProcesses } from "./postgres-processes.ts";
import { postgresSends } from "./postgres-sends.ts";

/** Everything on one server of its own, which keeps what is committed on the disk (`synchronous_commit` and `fsync` are on). */
export async function postgres(): Promise<string> {
  await using server = await startPostgres();
  const told: string[] = [];
  for (const bench of [postgresSends, postgresDelivery, postgresProcesses, postgresLink]) {
    told.push(await bench(server.url));
  }
  return `on PostgreSQL: ${told.join(", ")}`;
}
