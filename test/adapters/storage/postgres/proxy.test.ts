import { expect, test } from "vitest";
import { database } from "../../../support/postgres/test-database.ts";

/** A table, and a pool that reaches it through a proxy. */
async function led() {
  const db = await database();
  const direct = db.pool();
  await direct.query("CREATE TABLE notes (word text)");
  const proxy = await db.proxy();
  const pool = db.pool({ connectionString: proxy.url, max: 1 });
  const words = async (): Promise<string[]> =>
    (await direct.query<{ word: string }>("SELECT word FROM notes ORDER BY word")).rows.map(
      ({ word }) => word,
    );
  const write = async (word: string): Promise<void> => {
    const client = await pool.connect();
    client.on("error", () => {});
    try {
      await client.query("BEGIN");
      await client.query({ name: "write", text: "INSERT INTO notes VALUES ($1)", values: [word] });
      await client.query("COMMIT");
    } finally {
      client.release(true);
    }
  };
  return { proxy, pool, write, words };
}

test("a connection is cut before the server gets a COMMIT, or after, and only once", async () => {
  const { proxy, write, words } = await led();
  const isCommit = ({ sql }: { readonly sql: string }): boolean => sql === "COMMIT";

  void proxy.cutAt(isCommit, "before");
  await expect(write("before")).rejects.toThrow("terminated");
  await write("between");
  const cut = proxy.cutAt(isCommit, "after");
  await expect(write("after")).rejects.toThrow("terminated");
  await cut;
  await write("at last");
  expect(await words()).toEqual(["after", "at last", "between"]);
});

test("a connection is cut at the statement of the given number, also at prepared ones", async () => {
  const { proxy, write, words } = await led();
  await write("first");
  expect(proxy.statements).toBe(3);
  void proxy.cutAt(({ number }) => number === 5, "before");
  await expect(write("second")).rejects.toThrow("terminated");
  expect(proxy.statements).toBe(5);
  expect(await words()).toEqual(["first"]);
});

test("the proxy delays data as configured, and keeps its order", async () => {
  const { proxy, pool } = await led();
  await pool.query("SELECT 1");
  proxy.delayMs = 40;
  const begun = performance.now();
  const seen: unknown[] = [];
  await Promise.all(
    [1, 2, 3].map(async (n) => seen.push((await pool.query("SELECT $1::int AS n", [n])).rows[0])),
  );
  expect(performance.now() - begun).toBeGreaterThan(3 * 80 - 10);
  expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test("connections are cut, and new ones are refused until the proxy is restored", async () => {
  const { proxy, pool } = await led();
  await pool.query("SELECT 1");
  proxy.refuses = true;
  const cut = pool.query("SELECT pg_sleep(60)");
  proxy.cut();
  await expect(cut).rejects.toThrow("terminated");
  await expect(pool.query("SELECT 1")).rejects.toThrow(/terminated|ECONNRESET/);
  proxy.refuses = false;
  expect((await pool.query("SELECT 1 AS n")).rows).toEqual([{ n: 1 }]);
});
