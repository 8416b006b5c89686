/** The statements that a connection keeps prepared on the server. */
import { expect, it, onTestFinished } from "vitest";
import { Connection } from "../../../../adapters/storage/postgres/connections/connection.ts";
import type { Statement } from "../../../../adapters/storage/postgres/connections/statement.ts";
import { postgres } from "../../../../adapters/storage/postgres/index.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { firstSchema } from "../notes.ts";

const maxPrepared = 400;
const failing: Statement = { text: "SELECT 1 / 0", values: [], isKept: false };

async function connected() {
  const client = await (await database()).pool().connect();
  onTestFinished(() => client.release());
  const connection = new Connection(client);
  let count = 0;
  /** Returns a statement that the connection has not run yet. */
  const fresh = (): Statement => ({ text: `SELECT ${++count}`, values: [] });
  /** How many statements the server keeps for the connection. */
  const kept = async (): Promise<number> => {
    const text = "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'tidings_%'";
    const [found] = await connection.run([{ text, values: [], isKept: false }]);
    return Number(found?.rows[0]?.[0]);
  };
  return { connection, fresh, kept };
}

it("the server keeps at most 400 statements of a connection, also after batches that failed", async () => {
  const { connection, fresh, kept } = await connected();
  for (let n = 0; n < maxPrepared + 10; n++) await connection.run([fresh()]);
  expect(await kept()).toBe(maxPrepared);
  for (let n = 0; n < 5; n++) {
    const batch = [fresh(), fresh()];
    await expect(connection.run([failing, ...batch])).rejects.toThrow("division by zero");
    await connection.run(batch);
  }
  expect(await kept()).toBe(maxPrepared);
});

it("the server keeps no statement of a migration", async () => {
  const pool = (await database()).pool({ max: 1 });
  await postgres({ pool }).migrate(firstSchema);
  const kept = await pool.query("SELECT statement FROM pg_prepared_statements");
  expect(kept.rows).toEqual([]);
});
