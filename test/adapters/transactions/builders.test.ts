import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { eq, sql } from "drizzle-orm";
import { drizzle as drizzleOnPg, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgresJs, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { integer, sqliteTable, text as textColumn } from "drizzle-orm/sqlite-core";
import { drizzle as drizzleOnProxy } from "drizzle-orm/sqlite-proxy";
import knex from "knex";
import {
  CamelCasePlugin,
  Kysely,
  ParseJSONResultsPlugin,
  PostgresDialect,
  sql as raw,
  SqliteDialect,
  type SqliteDatabase,
  type Transaction,
} from "kysely";
import postgresJs from "postgres";
import type { MessagingEngine } from "tidings";
import { postgres } from "tidings/postgres";
import { sqlite } from "tidings/sqlite";
import {
  fromDrizzle,
  fromKnex,
  fromKysely,
  fromPrisma,
  type KyselyTransaction,
} from "tidings/transactions";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { world } from "../../support/engines/world.ts";
import { cases, isLong } from "../../support/runs.ts";
import { reusedDatabase, type ReusedDatabase } from "../../support/storage/reused-database.ts";
import { prismaLike } from "./prisma-like.ts";

/**
 * What the callback of a transaction gets: the handle for the engine, and a function that runs the
 * host application's statements.
 */
interface Open {
  readonly tx: object;
  note(text: string): Promise<unknown>;
}

/**
 * Runs a query builder's transaction. It commits when the callback resolves, and otherwise rolls
 * back and rethrows.
 */
type Run = <T>(work: (open: Open) => Promise<T>) => Promise<T>;

const insert = (text: string): string => `INSERT INTO notes (text) VALUES ('${text}')`;

/** Converts the transaction again for each use, as host applications do. */
const opened = (handle: () => object, note: Open["note"]): Open => ({
  get tx() {
    return handle();
  },
  note,
});

const onDrizzle =
  (orm: NodePgDatabase | PostgresJsDatabase): Run =>
  (work) =>
    orm.transaction((tx) =>
      work(
        opened(
          () => fromDrizzle(tx),
          async (text) => tx.execute(sql.raw(insert(text))),
        ),
      ),
    );

const onPostgres: Readonly<Record<string, (db: ReusedDatabase) => Run>> = {
  "Drizzle on node-postgres": (db) => onDrizzle(drizzleOnPg({ client: db.pool() })),
  "Drizzle on postgres.js": (db) => {
    const { searchParams, username, password, hostname, port, pathname } = new URL(db.url);
    const client = postgresJs({
      // postgres.js does not support URLs with a socket directory.
      host: searchParams.get("host") ?? hostname,
      port: Number(port === "" ? 5432 : port),
      username,
      password,
      database: pathname.slice(1),
      max: 2,
    });
    onTestFinished(() => client.end());
    return onDrizzle(drizzleOnPostgresJs({ client }));
  },
  Kysely: (db) => {
    const plugins = [new CamelCasePlugin(), new ParseJSONResultsPlugin()];
    const builder = new Kysely<Record<string, never>>({
      dialect: new PostgresDialect({ pool: db.pool() }),
      plugins,
    });
    return (work) =>
      builder.transaction().execute((trx) =>
        work(
          opened(
            () => fromKysely(trx),
            (text) => raw.raw(insert(text)).execute(trx),
          ),
        ),
      );
  },
  Knex: (db) => {
    const builder = knex({ client: "pg", connection: db.url, pool: { min: 0, max: 2 } });
    onTestFinished(() => builder.destroy());
    return (work) =>
      builder.transaction(async (trx) =>
        work({ tx: await fromKnex(trx), note: (text) => trx.raw(insert(text)) }),
      );
  },
  Prisma: (db) => {
    const pool = db.pool();
    return (work) =>
      prismaLike(pool, (tx) =>
        work(
          opened(
            () => fromPrisma(tx),
            (text) => tx.$executeRawUnsafe(insert(text)),
          ),
        ),
      );
  },
};

/** What Kysely's dialect needs of a database. */
const kyselyDatabase = (own: DatabaseSync): SqliteDatabase => ({
  close: () => own.close(),
  prepare(text) {
    const statement = own.prepare(text);
    const values = (list: readonly unknown[]): SQLInputValue[] => list as SQLInputValue[];
    return {
      reader: statement.columns().length > 0,
      all: (list) => statement.all(...values(list)),
      run: (list) => statement.run(...values(list)),
      iterate: (list) => statement.iterate(...values(list)),
    };
  },
});

/** As in docs/transactions.md. */
const drizzleOver = (handle: DatabaseSync): ReturnType<typeof drizzleOnProxy> =>
  drizzleOnProxy(async (query, values: SQLInputValue[], method) => {
    const statement = handle.prepare(query);
    statement.setReturnArrays(true);
    const rows: unknown = method === "get" ? statement.get(...values) : statement.all(...values);
    return { rows: rows as unknown[] };
  });

const inEngineTransaction =
  (engine: MessagingEngine<DatabaseSync>): Run =>
  (work) =>
    engine.transaction((tx) => {
      const orm = drizzleOver(tx);
      return work({ tx, note: async (text) => orm.run(sql.raw(insert(text))) });
    });

type OnSqlite = (own: DatabaseSync, engine: MessagingEngine<DatabaseSync>) => Run;

const onSqlite: Readonly<Record<string, OnSqlite>> = {
  "Drizzle in engine.transaction": (_own, engine) => inEngineTransaction(engine),
  Drizzle: (own) => {
    const orm = drizzleOver(own);
    return (work) =>
      orm.transaction(
        (tx) => work({ tx: own, note: async (text) => tx.run(sql.raw(insert(text))) }),
        { behavior: "immediate" },
      );
  },
  Kysely: (own) => {
    const builder = new Kysely<Record<string, never>>({
      dialect: new SqliteDialect({ database: kyselyDatabase(own) }),
    });
    return (work) =>
      builder
        .transaction()
        .execute((trx) => work({ tx: own, note: (text) => raw.raw(insert(text)).execute(trx) }));
  },
};

const hello = { to: "+15005550001", body: "Hello" };

interface Bench {
  readonly run: Run;
  readonly one: MessagingEngine;
  readonly notes: () => Promise<string[]>;
}

async function benchOnPostgres(make: (db: ReusedDatabase) => Run): Promise<Bench> {
  const db = await reusedDatabase("CREATE TABLE notes (id SERIAL PRIMARY KEY, text TEXT NOT NULL)");
  onTestFinished(() => db[Symbol.asyncDispose]());
  const own = db.pool();
  return {
    run: make(db),
    one: world().engine(postgres({ pool: db.pool() })),
    notes: async () => {
      const { rows } = await own.query<{ text: string }>("SELECT text FROM notes ORDER BY id");
      return rows.map(({ text }) => text);
    },
  };
}

async function benchOnSqlite(make: OnSqlite): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "test.db");
  const one = world().engine(sqlite({ file }));
  await one.messages.list();
  const own = new DatabaseSync(file);
  onTestFinished(() => own.close());
  own.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  return {
    run: make(own, one),
    one,
    notes: async () => {
      const rows = own.prepare("SELECT text FROM notes ORDER BY id").all();
      return rows.map(({ text }) => String(text));
    },
  };
}

const builders: readonly (readonly [name: string, open: () => Promise<Bench>])[] = [
  ...Object.entries(onPostgres).map(
    ([name, make]) => [`${name} on PostgreSQL`, () => benchOnPostgres(make)] as const,
  ),
  ...Object.entries(onSqlite).map(
    ([name, make]) => [`${name} on SQLite`, () => benchOnSqlite(make)] as const,
  ),
];

/** Each takes over transactions in its own way. */
const mostDifferent = new Set(["Drizzle on node-postgres", "Drizzle on postgres.js", "Knex"]);

describe.each(builders)("a transaction of %s", (name, open) => {
  const isTried =
    isLong || name.endsWith("on SQLite") || mostDifferent.has(name.replace(" on PostgreSQL", ""));

  const bodies = async (one: MessagingEngine): Promise<unknown[]> =>
    (await one.messages.list()).data.map(({ body }) => body).toReversed();

  it("commits the host application's rows and the engine's together, or neither", async () => {
    const { run, one, notes } = await open();
    const metadata = { ones: "\u0001", json: '{"a_b":[1]}', quotes: `"'{},\\` };
    const sent = await run(async ({ tx, note }) => {
      await note("order 17");
      return one.messages.send({ ...hello, metadata }, { tx, idempotencyKey: "order-17" });
    });
    const lost = run(async ({ tx, note }) => {
      await note("order 18");
      await one.messages.send({ ...hello, body: "Lost" }, { tx });
      throw new RangeError("sold out");
    });
    await expect(lost).rejects.toThrow("sold out");
    expect([await notes(), await bodies(one)]).toEqual([["order 17"], ["Hello"]]);
    expect((await one.messages.get(sent.id)).metadata).toEqual(metadata);
  });

  it.runIf(isTried)(
    "lets commands see each other's writes, also when they run concurrently",
    async () => {
      const { run, one } = await open();
      await one.account().get();
      await run(async (open) => {
        const [first, second] = await Promise.all([
          one.messages.send(hello, { tx: open.tx, idempotencyKey: "once" }),
          one.messages.send(hello, { tx: open.tx, idempotencyKey: "once" }),
          one.messages.send({ ...hello, body: "Another" }, { tx: open.tx }),
        ]);
        expect(second).toEqual(first);
        await one.messages.cancel(first.id, { tx: open.tx });
      });
      expect(await bodies(one)).toEqual(["Hello", "Another"]);
      expect((await one.messages.list({ status: "canceled" })).data).toHaveLength(1);
    },
  );

  it.runIf(isTried || name.startsWith("Kysely"))("accepts no command after its end", async () => {
    const { run, one, notes } = await open();
    await one.account().get();
    let ended: Open | undefined;
    const work = async (open: Open): Promise<void> => {
      ended = open;
      await open.note("order 17");
    };
    await run(work);
    await expect(
      run((open) => work(open).then(() => Promise.reject(new Error("sold out")))),
    ).rejects.toThrow("sold out");
    const late = async (): Promise<unknown> => one.messages.send(hello, { tx: ended?.tx ?? {} });
    await expect(late()).rejects.toMatchObject({ code: "invalid_option" });
    expect([await notes(), await bodies(one)]).toEqual([["order 17"], []]);
  });

  it.runIf(isTried)("continues after a refused command", async () => {
    const { run, one, notes } = await open();
    await run(async ({ tx, note }) => {
      await note("before");
      await one.messages.send(hello, { tx });
      const refused = one.messages.send({ ...hello, from: "+1999999999" }, { tx });
      await expect(refused).rejects.toMatchObject({ code: "no_sender" });
      await note("after");
    });
    expect([await notes(), await bodies(one)]).toEqual([["before", "after"], ["Hello"]]);
  });
});

interface Queryable {
  query(query: { readonly text: string }): Promise<unknown>;
}

/** The same handle, which calls a function right before its first write. */
function beforeWriting(tx: Queryable, work: () => Promise<unknown>): Queryable {
  let isDone = false;
  return {
    async query(query) {
      if (query.text.startsWith("SAVEPOINT") && !isDone) {
        isDone = true;
        await work();
      }
      return tx.query(query);
    },
  };
}

describe.each(cases(Object.entries(onPostgres), ([name]) => mostDifferent.has(name)))(
  "a transaction of %s on PostgreSQL",
  (name, make) => {
    it("refuses a command that conflicts with another, and the host application can retry it", async () => {
      const { run, one, notes } = await benchOnPostgres(make);
      const { id } = await one.messages.send({ ...hello, send_at: "2026-01-02T00:00:00Z" });
      const running = run(async ({ tx, note }) => {
        await note("before");
        const meddled = beforeWriting(tx as Queryable, () =>
          one.messages.edit(id, { body: "Theirs" }),
        );
        const edit = (): Promise<unknown> =>
          one.messages.edit(id, { body: "Mine" }, { tx: meddled });
        await expect(edit()).rejects.toMatchObject({
          code: "storage_contended",
          retryable: true,
          message: expect.stringContaining("Run the whole transaction again."),
        });
        await note("after");
        await edit();
      });
      // postgres.js rolls back a transaction in which an error occurred, even when the error is
      // caught.
      const goesOn = name !== "Drizzle on postgres.js";
      const [ended] = await Promise.allSettled([running]);
      expect(ended.status).toBe(goesOn ? "fulfilled" : "rejected");
      expect(await notes()).toEqual(goesOn ? ["before", "after"] : []);
      expect((await one.messages.get(id)).body).toBe(goesOn ? "Mine" : "Theirs");
    });
  },
);

it("transactions of Drizzle in engine.transaction run at the same time without mixing", async () => {
  const { run, one, notes } = await benchOnSqlite((_, engine) => inEngineTransaction(engine));
  const orders = ["1", "2", "3", "4", "5", "6"];
  await Promise.allSettled(
    orders.map((body, i) =>
      run(async ({ tx, note }) => {
        await note(body);
        await one.messages.send({ ...hello, body }, { tx });
        if (i % 2 === 1) throw new RangeError("sold out");
      }),
    ),
  );
  const sent = (await one.messages.list()).data.map(({ body }) => body).toReversed();
  expect([await notes(), sent]).toEqual([
    ["1", "3", "5"],
    ["1", "3", "5"],
  ]);
});

it("Drizzle in engine.transaction reads all rows, one row, and undefined for a missing row", async () => {
  const { run } = await benchOnSqlite((_, engine) => inEngineTransaction(engine));
  const notes = sqliteTable("notes", { id: integer(), text: textColumn() });
  await run(async ({ tx, note }) => {
    await note("first");
    await note("second");
    const orm = drizzleOver(tx as DatabaseSync);
    const first = { id: 1, text: "first" };
    const found = orm.select().from(notes);
    expect(await found.all()).toEqual([first, { id: 2, text: "second" }]);
    expect(await found.where(eq(notes.id, 1)).get()).toEqual(first);
    expect(await orm.select().from(notes).where(eq(notes.id, 3)).get()).toBeUndefined();
  });
});

it("Knex itself, and a transaction of Knex that has ended, take no connection", async () => {
  const db = await reusedDatabase("");
  onTestFinished(() => db[Symbol.asyncDispose]());
  const builder = knex({ client: "pg", connection: db.url, pool: { min: 0, max: 1 } });
  onTestFinished(() => builder.destroy());
  const ended = await builder.transaction();
  await ended.commit();
  for (const given of [ended, builder as never]) {
    expect(() => fromKnex(given)).toThrow("trx: expected an open transaction of Knex");
  }
  // The only connection of the pool is free.
  await builder.raw("SELECT 1");
});

it("a Kysely instance that is not a transaction is refused by its type", () => {
  expectTypeOf<Transaction<object>>().toExtend<KyselyTransaction>();
  expectTypeOf<Kysely<object>>().not.toExtend<KyselyTransaction>();
});
