/** The long connection of a PostgreSQL storage, while its users come and go. */
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import type { Connection, PostgresPool } from "../../../adapters/storage/postgres/connection.ts";
import { ConnectionPool } from "../../../adapters/storage/postgres/pool.ts";
import { Session, type SessionUser } from "../../../adapters/storage/postgres/session.ts";

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
  expect(given.map(({ lost }) => lost)).toEqual([false]);
});
