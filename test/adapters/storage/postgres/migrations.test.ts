import { Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { postgres, type PostgresOptions } from "../../../../adapters/storage/postgres/index.ts";
import { schema as engineSchema } from "../../../../src/modules.ts";
import { StorageConflict, type StoragePort, type Write } from "../../../../src/ports/storage.ts";
import { eventually } from "../../../support/eventually.ts";
import type { Database } from "../../../support/postgres/temporary-database.ts";
import { database } from "../../../support/postgres/test-database.ts";
import {
  firstSchema,
  insertNote,
  laterNoteById,
  laterNotes,
  noteById,
  secondSchema,
} from "../notes.ts";
import { says } from "../port.ts";

const write = async (port: StoragePort, ...writes: readonly Write[]): Promise<void> =>
  port.begin().commit(writes);

function on(where: Database, options: Omit<PostgresOptions, "pool"> = {}): StoragePort {
  const port = postgres({ pool: where.pool(), ...options });
  onTestFinished(() => port.close());
  return port;
}

/** Tables, columns, indexes and constraints, as PostgreSQL describes them. */
async function shape(where: Database, schema = "public"): Promise<unknown> {
  const pool = where.pool({ max: 1 });
  const columns = `
    SELECT c.relname, c.relkind, c.relpersistence, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
           a.attcollation::regcollation::text AS collation, pg_get_expr(d.adbin, d.adrelid) AS preset
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (c.oid, a.attnum)
     WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'S') AND a.attnum > 0 ORDER BY 1, 4`;
  const indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY 1";
  return [(await pool.query(columns, [schema])).rows, (await pool.query(indexes, [schema])).rows];
}

/** Another process that has begun to migrate from the first schema to the second. */
async function migrating(where: Database) {
  const other = await where.pool().connect();
  onTestFinished(() => other.release(true));
  const [begin, lock, ...statements] = on(where).migrationSql(secondSchema, 1).split("\n");
  await other.query(`${begin} ${lock}`);
  const watcher = where.pool();
  /** When the sessions that wait for this migration asked last. */
  const asked = async (): Promise<readonly string[]> => {
    // In the transaction of the migration, this view would never change.
    const { rows } = await watcher.query<{ at: string }>(
      `SELECT query_start::text AS at FROM pg_stat_activity
        WHERE query = 'ROLLBACK' AND datname = current_database()`,
    );
    return rows.map(({ at }) => at);
  };
  return {
    asked,
    async isAskedTwice() {
      const times = new Set<string>();
      await eventually(async () => {
        for (const at of await asked()) times.add(at);
        expect(times.size).toBeGreaterThan(1);
      });
    },
    migrate: () => other.query(statements.join("\n")),
  };
}

describe("migrations of the PostgreSQL storage", () => {
  it("print SQL that creates the same schema as opening does, also in another PostgreSQL schema", async () => {
    for (const schema of ["public", "messaging"]) {
      const [opened, printed] = [await database(), await database()];
      await on(opened, { schema }).open(secondSchema);
      await printed.pool().query(on(printed, { schema }).migrationSql(secondSchema));
      const made = await shape(printed, schema);
      expect(made).toEqual(await shape(opened, schema));
      expect(JSON.stringify(made)).toContain("tidings_notes_by_kind");
      await on(printed, { schema, migrate: false }).open(secondSchema);
    }
  });

  it("create tables and columns with names that the host application can join", async () => {
    const where = await database();
    await on(where).open(engineSchema);
    const { rows } = await where
      .pool()
      .query(
        "SELECT m.status, c.id FROM tidings_messages m JOIN tidings_contacts c ON c.id = m.contact_id",
      );
    expect(rows).toEqual([]);
  });

  it("upgrade a database with rows, which get the new columns' fill values and keep the rest", async () => {
    const [opened, printed, fresh] = [await database(), await database(), await database()];
    for (const where of [opened, printed]) {
      const before = on(where);
      await before.open(firstSchema);
      await write(before, insertNote("a", "old"), insertNote("b"));
    }
    await printed.pool().query(on(printed).migrationSql(secondSchema, 1));
    for (const where of [opened, printed]) {
      const after = on(where);
      await after.open(secondSchema);
      const [rows] = await after.reader.get([{ index: laterNoteById, key: ["a"], limit: 1 }]);
      expect(rows).toEqual([
        { id: "a", text: "old", count: 0, kind: "it's plain", tags: [], stars: null, version: 1 },
      ]);
      const again = { kind: "insert", collection: laterNotes, row: rows?.[0] ?? {} } as const;
      await expect(write(after, again)).rejects.toThrow(StorageConflict);
    }
    await on(fresh).open(secondSchema);
    expect(await shape(opened)).toEqual(await shape(fresh));
    expect(await shape(printed)).toEqual(await shape(fresh));
  });

  it.each([
    { from: "this version" },
    { from: "a version before 11", without: "tidings_schema_pkey" },
  ])("upgrade a database of $from that publishes its changes", async ({ without }) => {
    const where = await database();
    const before = on(where);
    await before.open(firstSchema);
    await write(before, insertNote("a"));
    if (without !== undefined) {
      await where.pool().query(`ALTER TABLE tidings_schema DROP CONSTRAINT ${without}`);
    }
    const { rows } = await where
      .pool()
      .query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'tidings_admissions'",
      );
    const names = rows.map(({ name }) => name).join();
    await where.pool().query(`CREATE PUBLICATION changes FOR TABLE ${names}`);
    const after = on(where);
    await after.open(secondSchema);
    await write(after, { kind: "remove", collection: laterNotes, key: ["a"], version: 1 });
    expect(await after.reader.get([{ index: laterNoteById, key: ["a"], limit: 1 }])).toEqual([[]]);
    const fresh = await database();
    await on(fresh).open(secondSchema);
    expect(await shape(where)).toEqual(await shape(fresh));
  });

  it("do not disturb a process of the older version", async () => {
    const where = await database();
    const older = on(where);
    await older.open(firstSchema);
    await write(older, insertNote("a"));
    const newer = on(where);
    await newer.open(secondSchema);
    await write(older, insertNote("b"));
    const [old] = await older.reader.get([{ index: noteById, key: ["b"], limit: 1 }]);
    expect(old).toEqual([{ id: "b", text: "text", count: 0, version: 1 }]);
    const [rows] = await newer.reader.get([{ index: laterNoteById, key: ["b"], limit: 1 }]);
    expect(rows).toEqual([{ ...old?.[0], kind: "it's plain", tags: [], stars: null }]);
  });

  it("refuse a database of a newer version, and leave it unchanged", async () => {
    const where = await database();
    await on(where).open(secondSchema);
    const before = await shape(where);
    const older = on(where);
    await expect(older.open(firstSchema)).rejects.toMatchObject({
      code: "storage_newer",
      message: says(/version 2.*at most 1/),
    });
    await expect(older.migrate(firstSchema)).rejects.toMatchObject({ code: "storage_newer" });
    expect(await shape(where)).toEqual(before);
  });

  it("refuse an older database when migration is turned off", async () => {
    const where = await database();
    const port = on(where, { migrate: false });
    await expect(port.open(firstSchema)).rejects.toMatchObject({ code: "storage_outdated" });
    await port.migrate(firstSchema);
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const next = on(where, { migrate: false });
    await expect(next.open(secondSchema)).rejects.toMatchObject({
      code: "storage_outdated",
      message: says(/version 1.*needs 2/),
    });
    await next.migrate(secondSchema);
    await next.open(secondSchema);
  });

  it("leave nothing behind when they fail, and work once the obstacle is removed", async () => {
    const where = await database();
    await where.pool().query("CREATE TABLE tidings_additions (mine text)");
    await on(where).open(firstSchema);
    const before = await shape(where);
    await expect(on(where).open(secondSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect(await shape(where)).toEqual(before);
    await where.pool().query("DROP TABLE tidings_additions");
    await on(where).open(secondSchema);
  });

  it("work when several processes start at once, on an empty and on an older database", async () => {
    for (const from of [undefined, firstSchema]) {
      const where = await database();
      if (from !== undefined) await on(where).open(from);
      await Promise.all(
        Array.from({ length: 6 }, () => on(where, { schema: "public" }).open(secondSchema)),
      );
      await on(where, { migrate: false }).open(secondSchema);
    }
    const where = await database();
    await Promise.all(
      Array.from({ length: 6 }, () => on(where, { schema: "messaging" }).open(secondSchema)),
    );
  });

  it("take as long as they need, such as an hour for the index of a big table", async () => {
    const where = await database();
    await on(where).migrate(firstSchema);
    const admin = await where.pool().connect();
    onTestFinished(() => admin.release(true));
    await admin.query(`
      CREATE FUNCTION wait() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_lock_shared(7); END $$;
      CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE INDEX')
        EXECUTE FUNCTION wait();
      SELECT pg_advisory_lock(7);`);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const result = on(where)
      .migrate(secondSchema)
      .then(() => "migrated", String);
    await eventually(async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE%INDEX%' AND wait_event = 'advisory' AND datname = current_database()";
      expect((await admin.query(waiting)).rowCount).toBe(1);
    });
    // An hour of this process's timers. On the server hardly any time passes: its `lock_timeout`
    // applies to this wait, but not to the building of an index.
    await vi.advanceTimersByTimeAsync(3_600_000);
    await admin.query("SELECT pg_advisory_unlock(7)");
    expect(await result).toBe("migrated");
  });

  it("wait for the migration of another process as long as it takes", async () => {
    const where = await database();
    const port = on(where);
    await port.migrate(firstSchema);
    const other = await migrating(where);
    const result = port.migrate(secondSchema).then(() => "migrated", String);
    await other.isAskedTwice();
    await other.migrate();
    expect(await result).toBe("migrated");
  });

  it("are given up when the engine should have stopped, and leave no session on the server", async () => {
    const where = await database();
    await on(where).migrate(firstSchema);
    const other = await migrating(where);
    const port = on(where);
    const opening = port.open(secondSchema).catch((error: unknown) => error);
    await other.isAskedTwice();
    await port.abandonUnless?.(new AbortController().signal);
    expect(await opening).toMatchObject({
      code: "storage_unavailable",
      message: says(/connection.*was lost/),
    });
    await eventually(async () => expect(await other.asked()).toEqual([]));
    await other.migrate();
    await port.open(secondSchema);
  });

  it("end when the system's probes find that the server is gone", async () => {
    const where = await database();
    const probes = vi.spyOn(Socket.prototype, "setKeepAlive");
    onTestFinished(() => probes.mockRestore());
    await on(where).migrate(firstSchema);
    expect(probes).toHaveBeenCalledWith(true, 30_000);
  });

  it("need no privilege to create schemas when the schema exists", async () => {
    const where = await database();
    const admin = where.pool();
    const role = `tidings_${where.name.slice(-12)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA messaging AUTHORIZATION ${role}`);
    onTestFinished(
      async () => void (await admin.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)),
    );
    const url = new URL(where.url);
    url.username = role;
    const port = postgres({
      pool: where.pool({ connectionString: url.href }),
      schema: "messaging",
    });
    onTestFinished(() => port.close());
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const elsewhere = postgres({
      pool: where.pool({ connectionString: url.href }),
      schema: "other",
    });
    await expect(elsewhere.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: says(/privilege/),
    });
  });

  it("refuse a database whose encoding cannot hold every text", async () => {
    const where = await database();
    const name = `${where.name}_ascii`;
    const admin = where.pool();
    await admin.query(
      `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    onTestFinished(async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)));
    const url = new URL(where.url);
    url.pathname = name;
    const port = postgres({ pool: where.pool({ connectionString: url.href }) });
    await expect(port.open(firstSchema)).rejects.toMatchObject({
      message: says(/UTF8.*SQL_ASCII/),
      retryable: false,
    });
  });
});
