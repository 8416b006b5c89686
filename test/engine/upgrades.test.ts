/** An engine opens a database that an earlier schema version made, and continues its work. */
import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { schema } from "../../src/modules.ts";
import { columnsOf } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { EngineOptions } from "../../src/host/options.ts";
import { echo } from "../agents/world.ts";
import { database, migrated } from "../support/postgres.ts";
import { realTimeStorage } from "../support/real-time-storage.ts";
import { stopped, world } from "../support/world.ts";

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

/** SQL that removes what schema version 3 added, and creates again what version 2 had instead. */
function toVersion2(): string {
  const isLater = ({ since }: { readonly since: number }): boolean => since > 2;
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
    `CREATE INDEX tidings_deliveries_by_hand ON tidings_deliveries
       (webhook_id, manual_at, account_id, mode, id) WHERE manual_at IS NOT NULL`,
    "UPDATE tidings_schema SET version = 2",
  ].join(";\n");
}

describe.each([
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
])("on %s, an engine that opens a database of schema version 2", (_, make) => {
  async function opened(options: Partial<EngineOptions> = {}) {
    const here = world();
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
        const after = here.engine(made.connect(), options);
        await after.start();
        return after;
      },
    };
  }

  it("applies the queue timeout to the conversations of an agent", async () => {
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
