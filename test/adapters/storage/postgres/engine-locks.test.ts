import { describe, expect, it, onTestFinished } from "vitest";
import type { PostgresPool } from "../../../../adapters/storage/postgres/connections/driver.ts";
import { ConnectionPool } from "../../../../adapters/storage/postgres/connections/pool.ts";
import type { SessionUser } from "../../../../adapters/storage/postgres/connections/session.ts";
import { AdvisoryLocks } from "../../../../adapters/storage/postgres/engine-locks.ts";
import { Names } from "../../../../adapters/storage/postgres/names.ts";
import { eventually } from "../../../support/eventually.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { client, opened } from "./rows.ts";

/** The sessions of this database that hold locks of engines. */
const holders =
  "pg_locks WHERE locktype = 'advisory' AND database = " +
  "(SELECT oid FROM pg_database WHERE datname = current_database())";

describe("the lock of an engine on PostgreSQL", () => {
  it("is taken again when its connection is lost", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    const lock = await one.engineLocks.take();
    const admin = await client(where);
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid, 10000) FROM ${holders}`,
    );
    expect(rowCount).toBe(1);
    await eventually(async () =>
      expect(await two.engineLocks.findFree([lock?.id ?? ""])).toEqual([]),
    );
    await eventually(() => expect(lock?.isHeld()).toBe(true));
  });

  it("is free and not held while the server cannot be reached, and is taken again afterwards", async () => {
    const where = await database();
    const proxy = await where.proxy();
    const one = await opened(where, { connectionString: proxy.url });
    const two = await opened(where);
    // Listens on the same connection.
    let heard = 0;
    onTestFinished(one.watch(() => void heard++));
    const lock = await one.engineLocks.take();
    const id = lock?.id ?? "";
    proxy.refuses = true;
    proxy.cut();
    await eventually(() => expect(lock?.isHeld()).toBe(false));
    await eventually(async () => expect(await two.engineLocks.findFree([id])).toEqual([id]));
    const before = heard;
    proxy.refuses = false;
    await eventually(() => expect(lock?.isHeld()).toBe(true));
    expect(await two.engineLocks.findFree([id])).toEqual([]);
    expect(heard).toBeGreaterThan(before);
  });

  it("is released while its connection continues to listen", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    onTestFinished(one.watch(() => {}));
    const [lock, other] = [await one.engineLocks.take(), await one.engineLocks.take()];
    await lock?.release();
    expect(await two.engineLocks.findFree([lock?.id ?? "", other?.id ?? ""])).toEqual([lock?.id]);
    const admin = await client(where);
    expect((await admin.query(`SELECT 1 FROM ${holders}`)).rowCount).toBe(1);
  });

  it("is taken again while another process looks for free locks", async () => {
    const where = await database();
    const pool = where.pool();
    const [looks, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: PostgresPool = {
      async connect() {
        const client = await pool.connect();
        return {
          async query(query) {
            if (query.text === "COMMIT") {
              looks.resolve();
              await goOn.promise;
            }
            return client.query(query);
          },
          release: (destroy) => client.release(destroy),
        };
      },
    };
    const users: SessionUser[] = [];
    const session = { join: async (user: SessionUser) => void users.push(user), leave() {} };
    const names = new Names("public");
    const lock = await new AdvisoryLocks(new ConnectionPool(pool), session, names).take();
    const other = new AdvisoryLocks(new ConnectionPool(slow), session, names);
    const looking = other.findFree([lock.id]);
    await looks.promise;
    const { connection, release } = await new ConnectionPool(pool).take();
    onTestFinished(release);
    for (const user of users) await user.begin(connection);
    goOn.resolve();
    await looking;
    expect(lock.isHeld()).toBe(true);
    expect(await other.findFree([lock.id])).toEqual([]);
    await lock.release();
    expect(await other.findFree([lock.id])).toEqual([lock.id]);
  });

  it("is free after its release, although it was taken while its connection was kept alive", async () => {
    const where = await database();
    const pool = new ConnectionPool(where.pool());
    const { connection, release } = await pool.take();
    onTestFinished(release);
    const users: SessionUser[] = [];
    const session = { join: async (user: SessionUser) => void users.push(user), leave() {} };
    const lock = await new AdvisoryLocks(pool, session, new Names("public")).take();
    const begun = users.map((user) => user.begin(connection));
    for (const user of users) await user.keepAlive?.(connection);
    await Promise.all(begun);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    const admin = await client(where);
    expect((await admin.query(`SELECT 1 FROM ${holders}`)).rowCount).toBe(0);
  });
});
