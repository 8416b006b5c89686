/** An engine opens a database that an earlier schema version made, and continues its work. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Message } from "../../src/messages/types.ts";
import { schema } from "../../src/modules.ts";
import { columnsOf } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { deliveries } from "../../src/webhooks/rows.ts";
import { echo } from "../agents/world.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world, type World } from "../support/engines/world.ts";
import { database, migrated } from "../support/postgres/test-database.ts";
import { cases, isLong } from "../support/runs.ts";
import { realTimeStorage } from "../support/storage/real-time-storage.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { receivers } from "../webhooks/receivers.ts";
import { changeDeliveries, failed } from "../webhooks/rows.ts";

/** A database of the present schema. */
interface Made {
  connect(): StoragePort;
  /** Runs statements while no engine has the database open. */
  run(sql: string): Promise<unknown>;
}

async function onSqlite(): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "test.db");
  return {
    connect: () => sqlite({ file }),
    async run(sql) {
      const own = new DatabaseSync(file);
      own.exec(sql);
      own.close();
    },
  };
}

async function onPostgres(): Promise<Made> {
  const where = await database(await migrated());
  const ignore = (): void => {};
  return {
    // One engine runs at a time, so nobody needs notifications.
    connect: () => realTimeStorage(postgres({ pool: where.pool() }), ignore, () => ignore),
    run: (sql) => where.pool({ max: 1 }).query(sql),
  };
}

const isLater = ({ since }: { readonly since: number }): boolean => since > 2;

/** SQL that removes what later schema versions added, and creates again what version 2 had instead. */
function toVersion2(): string {
  const removals = schema.collections.flatMap((collection) => {
    const table = `tidings_${collection.name}`;
    const indexes = collection.indexes.filter(isLater);
    const columns = columnsOf(collection).filter(([, column]) => isLater(column));
    return [
      ...indexes.map(({ name }) => `DROP INDEX ${table}_${name}`),
      ...columns.map(([name]) => `ALTER TABLE ${table} DROP COLUMN ${name}`),
    ];
  });
  return [
    ...removals,
    // On PostgreSQL.
    "DROP TABLE IF EXISTS tidings_pending_counts",
    `CREATE INDEX tidings_deliveries_by_hand ON tidings_deliveries
       (webhook_id, manual_at, account_id, mode, id) WHERE manual_at IS NOT NULL`,
    "UPDATE tidings_schema SET version = 2",
  ].join(";\n");
}

it("what schema version 2 had is unchanged, so migrations add everything newer", () => {
  const parts = schema.collections.flatMap((collection) => [
    ...columnsOf(collection)
      .filter(([, column]) => !isLater(column))
      .map(([name, { type, nullable }]) => [collection.name, name, type, nullable]),
    ...[collection.primary, ...collection.indexes, ...collection.wordIndexes]
      .filter((index) => !isLater(index))
      .map(({ collection: _, since: __, ...index }) => [collection.name, index]),
  ]);
  const lines = parts.map((part) => JSON.stringify(part)).toSorted();
  const digest = createHash("sha256").update(lines.join("\n")).digest("hex");
  const advice = "Declare new columns with `added(version, …)`, and new indexes with `since`.";
  expect(digest, advice).toBe("62b241a2333365e2f9a3635483a62eb8fcba0ab09cbb3dd400b0452ca057af92");
});

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
])("on %s, an engine that opens a database of schema version 2", (name, make) => {
  /** What does not depend on the storage. See `lightStorages`. */
  const isTried = isLong || name !== "PostgreSQL";

  async function opened({
    here = world(),
    ...options
  }: Partial<EngineOptions> & { readonly here?: World } = {}) {
    const made = await make();
    const storage = made.connect();
    const before = here.engine(storage, options);
    return {
      clock: here.clock,
      storage,
      before,
      /** Stops the first engine, and starts another on what version 2 would have stored. */
      async upgrade(sql = "") {
        await stopped(before, here.clock);
        await made.run(`${toVersion2()};\n${sql}`);
        const after = await here.started(made.connect(), options);
        return after;
      },
    };
  }

  it("sends the messages that wait, and new ones", async () => {
    const line = carrier();
    const { clock, before, upgrade } = await opened({ transports: [line] });
    const send = (engine: MessagingEngine, body: string): Promise<Message> =>
      engine.messages.send({ to: "+15005550001", body }, { idempotencyKey: body });
    const waiting = await send(before, "Before");
    const after = await upgrade();
    expect(await send(after, "Before"), "the key is still known").toMatchObject({ id: waiting.id });
    const { id } = await send(after, "After");
    await clock.advance(1_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["Before", "After"]);
    for (const each of [waiting.id, id]) {
      expect(await after.messages.get(each)).toMatchObject({ status: "sent" });
    }
  });

  it("gives a scheduled message its place when it is sent", async () => {
    const line = carrier();
    const { clock, before, upgrade } = await opened({ transports: [line] });
    const send_at = new Date(clock.now() + 3_600_000).toISOString();
    const to = "+15005550001";
    const { id, conversation_id } = await before.messages.send({ to, body: "Before", send_at });
    // Earlier versions gave it the number that it got when it was written.
    const after = await upgrade("UPDATE tidings_messages SET sequence = 1");
    await after.messages.send({ to, body: "After" });
    await clock.advance(3_600_000);
    const { data } = await after.conversations.messages(conversation_id);
    expect(data.map(({ body }) => body)).toEqual(["Before", "After"]);
    expect(await after.messages.get(id)).toMatchObject({ status: "sent", placed_at: send_at });
    expect(await after.conversations.get(conversation_id)).toMatchObject({
      message_count: 2,
      last_message: { id },
    });
  });

  it.each(cases(["none", "fifo"] as const, (ordering) => ordering === "fifo"))(
    "continues the requested attempts and the recovery of a webhook with the ordering %s",
    async (ordering) => {
      const here = world();
      const there = receivers(here.clock);
      const { clock, storage, before, upgrade } = await opened({
        here,
        http: { client: there.client },
      });
      const since = new Date(clock.now()).toISOString();
      const hook = await before.webhooks.create({
        url: "https://hooks.example.com/in",
        events: ["message.sent"],
        ordering,
      });
      const tell = (engine: MessagingEngine) => engine.sandbox.event({ type: "message.sent" });
      const told = [await tell(before), await tell(before), await tell(before)];
      const ids = (await rowsOf(storage, deliveries)).map(({ id }) => id);
      const [succeeded = "", ...others] = ids;
      await changeDeliveries(storage, others, failed);
      const succeeding = { status: "succeeded", attempts: 1, next_attempt_at: null } as const;
      await changeDeliveries(storage, [succeeded], succeeding);
      await before.webhooks.redeliver(hook.id, succeeded);
      await before.webhooks.recover(hook.id, { since });

      const after = await upgrade();
      told.push(await tell(after));
      await clock.advance(20_000);
      const came = (): string[] => there.seen.map(({ id }) => id).toSorted();
      expect(came()).toEqual(told.map(({ id }) => id).toSorted());
      const { data } = await after.webhooks.deliveries(hook.id);
      expect(data.map(({ status }) => status)).toEqual(told.map(() => "succeeded"));

      there.seen.splice(0);
      await after.webhooks.redeliver(hook.id, succeeded);
      await after.webhooks.recover(hook.id, { since });
      await clock.advance(20_000);
      expect(came()).toEqual([told[0]?.id]);
    },
  );

  it.runIf(isTried)("applies the queue timeout to the conversations of an agent", async () => {
    const { clock, before, upgrade } = await opened({ agents: { model: { respond: echo } } });
    await before.start();
    await before.agents.create({
      name: "Ada",
      channels: ["sms"],
      handoff: {
        rules: [{ on: "customer_request" }],
        queue_timeout_seconds: 60,
        on_no_humans: "stay_ai",
      },
    });
    const [kept, queued] = await Promise.all([
      before.sandbox.inbound({ from: "+15005550101", body: "Hello" }),
      before.sandbox.inbound({ from: "+15005550102", body: "Let me talk to a human" }),
    ]);
    await clock.advance(10_000);
    // Version 2 stored a time only for conversations that wait in the queue.
    const after = await upgrade(
      `UPDATE tidings_agent_sessions SET queued_at = NULL
         WHERE conversation_id = '${kept.conversation_id}'`,
    );
    const handlers = (): Promise<string[]> =>
      Promise.all(
        [kept, queued].map(
          async ({ conversation_id }) => (await after.conversations.get(conversation_id)).handler,
        ),
      );
    expect(await handlers()).toEqual(["ai", "queue"]);
    await after.conversations.assign(kept.conversation_id, { type: "human", id: "eve" });
    await clock.advance(60_000);
    expect(await handlers()).toEqual(["human", "ai"]);
    await after.conversations.assign(kept.conversation_id, null);
    await clock.advance(55_000);
    expect(await handlers()).toEqual(["queue", "ai"]);
    await clock.advance(10_000);
    expect(await handlers()).toEqual(["ai", "ai"]);
  });
});
