import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { postgres } from "../../../../adapters/storage/postgres/index.ts";
import { storageConformance } from "../../../../adapters/testing/conformance/storage/index.ts";
import { serverUrl } from "../../../support/postgres.ts";

/** Each test has its own schema in one database, because creating a database takes longer. */
let administrator: pg.Pool;
beforeAll(async () => {
  administrator = new pg.Pool({ connectionString: await serverUrl() });
});
afterAll(() => administrator.end());

function runWith(name: string, options: pg.PoolConfig & { pipeline?: boolean }): void {
  storageConformance({ describe, it }, name, async () => {
    const schema = `test_${randomUUID().replaceAll("-", "")}`;
    const pools: pg.Pool[] = [];
    return {
      connect() {
        const pool = new pg.Pool({
          connectionString: administrator.options.connectionString,
          max: 5,
          ...options,
        });
        pools.push(pool);
        return postgres({ pool, schema });
      },
      async remove() {
        await Promise.all(pools.map((pool) => pool.end()));
        await administrator.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      },
    };
  });
}

runWith("postgres", {});
// These clients send queries ahead and accept no batches.
runWith("postgres on a pipelining pool", { pipeline: true });
