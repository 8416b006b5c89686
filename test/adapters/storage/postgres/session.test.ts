/** The long connection of a PostgreSQL storage, while its users come and go. */
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import type { Connection } from "../../../../adapters/storage/postgres/connections/connection.ts";
import type { PostgresPool } from "../../../../adapters/storage/postgres/connections/driver.ts";
import { ConnectionPool } from "../../../../adapters/storage/postgres/connections/pool.ts";
import {
  Session,
  type SessionUser,
} from "../../../../adapters/storage/postgres/connections/session.ts";
import { AdvisoryLocks } from "../../../../adapters/storage/postgres/engine-locks.ts";
import { Names } from "../../../../adapters/storage/postgres/names.ts";

/** A pool of clients that answer nothing of interest. */
const pool: PostgresPool = {
  connect: async () => ({ query: async () => ({ rows: [] }), release() {} }),
};

it("gives a user no connection that ends because the users before it have left", async () => {
  const session = new Session(new ConnectionPool(pool));
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const former: SessionUser = {
    begin: async () => {
      begun.resolve();
      await goOn.promise;
    },
  };
  const given: Connection[] = [];
  const user: SessionUser = { begin: async (connection) => void given.push(connection) };
  onTestFinished(() => session.leave(user));
  void session.join(former);
  await begun.promise;
  session.leave(former);
  const joined = session.join(user);
  goOn.resolve();
  await joined;
  for (let i = 0; i < 20; i++) await setImmediate();
  expect(given.map(({ isLost }) => isLost)).toEqual([false]);
});

it("leaves no lock of an engine that stops while the lock is taken", async () => {
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const sent: string[] = [];
  const slow: PostgresPool = {
    connect: async () => ({
      async query({ text }) {
        sent.push(/pg_\w+/.exec(text)?.[0] ?? text);
        asked.resolve();
        await answer.promise;
        return { rows: [["true"]] };
      },
      release() {},
    }),
  };
  const connections = new ConnectionPool(slow);
  const session = new Session(connections);
  const locks = new AdvisoryLocks(connections, session, new Names("public"));
  // Something else needs the connection, so its end does not free the lock.
  const other: SessionUser = { begin: async () => {} };
  onTestFinished(() => session.leave(other));
  void session.join(other);
  const taking = locks.take();
  await asked.promise;
  await locks.close();
  answer.resolve();
  expect((await taking).isHeld()).toBe(false);
  for (let i = 0; i < 20; i++) await setImmediate();
  expect(sent).toEqual(["pg_try_advisory_lock", "pg_advisory_unlock"]);
});
