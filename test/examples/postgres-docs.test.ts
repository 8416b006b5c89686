/** Executes the instructions of docs/postgres.md and checks its figures. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { MessagingEngine } from "tidings";
import { fetchHandler } from "tidings/fetch";
import { postgres } from "tidings/postgres";
import { sandbox } from "tidings/sandbox";
import { system } from "tidings/system";
import { expect, onTestFinished, test } from "vitest";
import { schema } from "../../src/modules.ts";
import { onServer } from "../support/postgres/temporary-database.ts";
import { database, serverUrl } from "../support/postgres/test-database.ts";

const document = readFileSync("docs/postgres.md", "utf8");

/**
 * The SQL under a heading. Roles belong to the whole server, so each test uses its own role names.
 */
function sqlUnder(heading: string, roles: string): string {
  const section = document.split(/^## /m).find((each) => each.startsWith(heading)) ?? "";
  const [, sql] = /```sql\n([^]*?)```/.exec(section) ?? [];
  if (sql === undefined) throw new Error(`docs/postgres.md has no SQL under ${heading}`);
  return sql.replaceAll(/tidings_(owner|app)\b/g, `${roles}_$1`);
}

/** The SQL without CREATE SCHEMA, for an existing schema. */
const withoutSchema = (sql: string): string => sql.replace(/^CREATE SCHEMA .*\n/m, "");

/** A database with the document's roles, and a pool for each role. */
async function withRoles() {
  const roles = `tidings_${randomUUID().slice(0, 8)}`;
  const server = await serverUrl();
  // After the database and everything that the roles own are gone.
  onTestFinished(() =>
    onServer(server, (client) => client.query(`DROP ROLE IF EXISTS ${roles}_owner, ${roles}_app`)),
  );
  const db = await database();
  const superuser = db.pool({ max: 1 });
  await superuser.query(sqlUnder("Roles and rights", roles));
  const as = (role: "owner" | "app") => db.pool({ options: `-c role=${roles}_${role}` });
  return { roles, superuser, owner: as("owner"), app: as("app") };
}

function engineOn(pool: ReturnType<Awaited<ReturnType<typeof database>>["pool"]>): MessagingEngine {
  const storage = postgres({ pool, schema: "tidings", migrate: false });
  const engine = new MessagingEngine({ storage, transports: [sandbox()], ...system() });
  onTestFinished(() => engine.stop());
  return engine;
}

async function delivered(engine: MessagingEngine, body: string): Promise<string> {
  const told = new Promise<string>((resolve) => {
    engine.on("message.sent", ({ data }) => resolve(data.message_id));
  });
  const { secret } = await engine.apiKeys.create({ name: "test" });
  // Over HTTP, where rate limits apply, too.
  const response = await fetchHandler(engine)(
    new Request("http://localhost/v1/messages", {
      method: "POST",
      headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json" },
      body: JSON.stringify({ to: "+15005550001", body }),
    }),
  );
  expect(response.status).toBe(201);
  expect(await told).toBe(((await response.json()) as { id: string }).id);
  return told;
}

test.each([
  ["by the owner's engine", (engine: MessagingEngine) => engine.migrate()],
  ["by the printed SQL", undefined],
] as const)(
  "the serving role works on a schema that was migrated %s, and cannot change tables",
  async (_, migrate) => {
    const { owner, app } = await withRoles();
    const migrating = engineOn(owner);
    await expect(engineOn(app).start()).rejects.toMatchObject({ code: "storage_outdated" });
    await (migrate === undefined
      ? owner.query(withoutSchema(migrating.migrationSql()))
      : migrate(migrating));

    const engine = engineOn(app);
    await engine.start();
    await delivered(engine, "Hello");
    for (const sql of [
      "ALTER TABLE tidings.tidings_messages ADD COLUMN more text",
      "TRUNCATE tidings.tidings_messages",
      "CREATE TABLE tidings.more ()",
    ]) {
      await expect(app.query(sql), sql).rejects.toMatchObject({ code: "42501" });
    }
  },
);

/** Answers a visitor, who reads the answer. Returns its id. */
async function readInChat(engine: MessagingEngine, body: string): Promise<string> {
  const { id: session } = await engine.webchat.open({ name: "Ann" });
  const stream = await engine.webchat.stream(session);
  await engine.webchat.sendAsVisitor(session, { body: "Hello" });
  const { data } = await engine.conversations.list({ unread: true });
  const { id } = await engine.conversations.reply(data[0]?.id ?? "", { body, author_id: "kim" });
  await stream[Symbol.asyncIterator]().next();
  await engine.webchat.mark(session, { message_id: id, mark: "read" });
  return id;
}

test("the vacuum settings apply, the reports run, and the owner's clean-up is harmless", async () => {
  const { roles, owner, app } = await withRoles();
  const engine = engineOn(app);
  await engineOn(owner).migrate();
  await owner.query(sqlUnder("Vacuum", roles));
  await engine.start();
  const id = await delivered(engine, "Old");
  const chatted = await readInChat(engine, "An old answer");
  await app.query(sqlUnder("Your own queries", roles));

  const removal = sqlUnder("Big tables", roles);
  await owner.query(removal);
  expect(await engine.messages.get(id)).toMatchObject({ status: "delivered" });
  await owner.query(removal.replace("interval '1 year'", "interval '-1 day'"));
  await expect(engine.messages.get(id)).rejects.toMatchObject({ code: "not_found" });
  // An erasure of the contact would not find what stays of a message, such as its words.
  for (const [table, key] of [
    ["messages", "id"],
    ["message_attempts", "message_id"],
    ["message_timeline", "message_id"],
    ["message_words", "id"],
    ["webchat_mail", "message_id"],
  ] as const) {
    const left = `SELECT FROM tidings.tidings_${table} WHERE ${key} = ANY ($1)`;
    expect((await owner.query(left, [[id, chatted]])).rows, table).toHaveLength(0);
  }
  expect(await engine.messages.get(await delivered(engine, "New"))).toMatchObject({
    status: "delivered",
  });
});

test("the unique keys without an account match the document", () => {
  const listed = [...document.matchAll(/^ {2}\| `(\w+)` \| `([\w, ]+)` \|/gm)].map(
    ([, table, key]) => `${table}: ${key}`,
  );
  const keys = schema.collections.flatMap((collection) =>
    [collection.primary, ...collection.indexes]
      .filter(({ unique, columns }) => unique && !columns.includes("account_id"))
      .map(({ columns }) => `${collection.name}: ${columns.join(", ")}`),
  );
  expect(listed.toSorted()).toEqual(keys.toSorted());
});
