import { describe, expect, it, onTestFinished } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { system } from "../../../adapters/system/index.ts";
import { sandbox } from "../../../adapters/transport/sandbox/index.ts";
import type { Message } from "../../../src/messages/types.ts";
import { database } from "../../support/postgres/test-database.ts";
import { cases, longTest } from "../../support/runs.ts";
import { firstSchema } from "../storage/notes.ts";

const hello = { to: "+15005550001", body: "Hello" };

/** An engine in real time on a real pool, as in a host application. */
async function opened(max: number) {
  const db = await database();
  const pool = db.pool({ max });
  const engine = new MessagingEngine({
    storage: postgres({ pool }),
    transports: [sandbox()],
    ...system(),
  });
  onTestFinished(() => engine.stop({ deadlineMs: 1_000 }));
  return { pool, engine };
}

it("more transactions than the pool has connections wait for each other, also right after the start of a process", async () => {
  const { engine } = await opened(5);
  await engine.start();
  const sent = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      engine.transaction((tx) =>
        engine.messages.send({ ...hello, to: `+150055501${10 + i}` }, { tx }),
      ),
    ),
  );
  const kept = (await engine.messages.list({ limit: 50 })).data.map(({ id }) => id);
  expect(kept.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
});

it("a burst of transactions does not hold up other commands, also on the smallest pool", async () => {
  const { engine } = await opened(2);
  await engine.start();
  let ended = 0;
  const burst = Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      engine
        .transaction((tx) => engine.messages.send({ ...hello, to: `+150055501${10 + i}` }, { tx }))
        .then(() => ended++),
    ),
  );
  await engine.messages.send(hello);
  expect(ended).toBeLessThan(6);
  await burst;
});

longTest(
  "a client with a past transaction of the engine can run the host application's statements",
  async () => {
    const { engine, pool } = await opened(2);
    for (let i = 0; i < 3; i++) {
      await engine.transaction((tx) => engine.messages.send(hello, { tx }));
    }
    const client = await pool.connect();
    await client.query("BEGIN");
    const { id } = await engine.messages.send(hello, { tx: client });
    await client.query("COMMIT");
    client.release();
    expect((await engine.messages.get(id)).body).toBe("Hello");
  },
);

const drivers = ["the current pg", "pg before 8.21"];

describe.each(cases(drivers, (each) => each === "the current pg"))("with %s", (driver) => {
  async function openedWith() {
    const { engine, pool } = await opened(2);
    if (driver !== "the current pg") {
      pool.on("connect", (client) => Reflect.set(client, "getTransactionStatus", undefined));
    }
    await engine.messages.list();
    return { engine, pool };
  }

  it.each(cases(["SELECT 1", "SELECT nonsense"], (last) => last === "SELECT nonsense"))(
    "a connection that the host application returns in a transaction, after %s, is closed, so that nothing is lost in it",
    async (last) => {
      const { engine, pool } = await openedWith();
      const client = await pool.connect();
      await client.query("BEGIN");
      await client.query(last).catch(() => {});
      client.release();
      await expect(engine.messages.send(hello)).rejects.toMatchObject({
        code: "storage_unavailable",
        retryable: true,
        message: expect.stringMatching(/with an open transaction.*COMMIT or ROLLBACK before/),
      });
      const { id } = await engine.messages.send(hello);
      await engine.stop();
      expect((await pool.query("SELECT id FROM tidings_messages")).rows).toEqual([{ id }]);
    },
  );

  it("a connection that the host application returns before its COMMIT is done can be used", async () => {
    const { engine, pool } = await openedWith();
    const client = await pool.connect();
    await client.query("BEGIN");
    const { id } = await engine.messages.send(hello, { tx: client });
    const committed = client.query("COMMIT");
    client.release();
    expect((await engine.messages.get(id)).body).toBe("Hello");
    await committed;
  });

  it("the callback of BEGIN can send in the transaction", async () => {
    const { engine, pool } = await openedWith();
    const client = await pool.connect();
    const { id } = await new Promise<Message>((resolve) => {
      client.query("BEGIN", () => resolve(engine.messages.send(hello, { tx: client })));
    });
    await client.query("COMMIT");
    client.release();
    expect((await engine.messages.get(id)).body).toBe("Hello");
  });
});

longTest(
  "an engine works with clients whose driver fails to tell the status of their transactions",
  async () => {
    const { engine, pool } = await opened(2);
    // Like those of `pg.native` with `pg-native` 3.5.
    const getTransactionStatus = (): never => {
      throw new TypeError("this.native.getTransactionStatus is not a function");
    };
    pool.on("connect", (client) =>
      Reflect.set(client, "getTransactionStatus", getTransactionStatus),
    );
    const { id } = await engine.messages.send(hello);
    expect((await engine.messages.get(id)).body).toBe("Hello");
  },
);

it("the newest events include those of a host transaction as soon as it has committed", async () => {
  const { engine, pool } = await opened(3);
  for (let i = 0; i < 4; i++) await engine.messages.send({ ...hello, to: `+150055500${10 + i}` });
  const client = await pool.connect();
  await client.query("BEGIN");
  const { conversation_id } = await engine.messages.send(
    { ...hello, to: "+15005550077" },
    { tx: client },
  );
  await client.query("COMMIT");
  client.release();
  const [newest] = (await engine.events.list({ limit: 2 })).data;
  expect(newest).toMatchObject({
    type: "conversation.created",
    data: { conversation: { id: conversation_id } },
  });
});

it("a transaction whose connection becomes free only after the storage was closed does not run", async () => {
  const pool = (await database()).pool({ max: 2 });
  const storage = postgres({ pool });
  await storage.open(firstSchema);
  const clients = [await pool.connect(), await pool.connect()];
  let hasRun = false;
  const transaction = storage.transaction?.(async () => {
    hasRun = true;
  });
  const refused = transaction?.catch((error: unknown) => error);
  await storage.close();
  for (const client of clients) client.release();
  expect(await refused).toMatchObject({ code: "storage_unavailable" });
  expect(hasRun).toBe(false);
});
