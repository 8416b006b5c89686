import { randomUUID } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { postgres } from "../../../../adapters/storage/postgres/index.ts";
import { storageConformance } from "../../../../adapters/testing/conformance/storage/index.ts";
import { makeDatabase, type Database } from "../../../support/postgres/temporary-database.ts";
import { serverUrl } from "../../../support/postgres/test-database.ts";
import { isLong } from "../../../support/runs.ts";

let database: Database;
let administrator: pg.Pool;
beforeAll(async () => {
  database = await makeDatabase(await serverUrl());
  administrator = database.pool({ max: 1 });
});
afterAll(() => database[Symbol.asyncDispose]());

/**
 * Runs some groups of the suite. One test after the other uses the same connections, and the same
 * tables if the test changes none. To create these would take longer than most tests.
 */
function runWith(name: string, pipeline: boolean, isTried: (group: string) => boolean): void {
  const pools: pg.Pool[] = [];
  const shared = newName();
  let group = "";
  const runner = {
    describe(title: string, define: () => void): void {
      if (!isTried(title)) return;
      // oxlint-disable-next-line vitest/valid-title -- the suite gives it
      describe(title, () => {
        beforeAll(() => void (group = title));
        define();
      });
    },
    it,
  };
  storageConformance(runner, name, async () => {
    const isShared = group !== "upgrades";
    const schema = isShared ? shared : newName();
    let connections = 0;
    return {
      connect() {
        const pool = pools[connections] ?? database.pool({ pipeline });
        pools[connections++] = pool;
        return postgres({ pool, schema });
      },
      remove: () => (isShared ? empty(schema) : drop(schema)),
    };
  });
}

const newName = (): string => `test_${randomUUID().replaceAll("-", "")}`;

async function drop(schema: string): Promise<void> {
  await administrator.query(`DROP SCHEMA ${schema} CASCADE`);
}

/** Deletes the rows that a test left. */
async function empty(schema: string): Promise<void> {
  const { rows } = await administrator.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = $1 AND tablename <> 'tidings_schema'`,
    [schema],
  );
  await administrator.query(rows.map(({ name }) => `DELETE FROM ${name}`).join("; "));
}

runWith("postgres", false, () => true);
/** These groups are about what statements say and lock. How a client sends them matters little. */
const ofStatements = new Set(["ranges", "rows", "search", "sharing", "upgrades"]);
// These clients send queries ahead and accept no batches.
runWith("postgres on a pipelining pool", true, (group) => isLong || !ofStatements.has(group));
