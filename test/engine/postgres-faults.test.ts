/** Faults between an engine and PostgreSQL, in real time. */
import type pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { system } from "../../adapters/system/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { epoch, fastClock } from "../crash/clock.ts";
import { carrier, providerId, type Carrier } from "../support/engines/carrier.ts";
import { eventually } from "../support/eventually.ts";
import type { PostgresProxy, Statement } from "../support/postgres/proxy.ts";
import { startPostgres } from "../support/postgres/server.ts";
import { makeDatabase, type Database } from "../support/postgres/temporary-database.ts";
import { database, migrated } from "../support/postgres/test-database.ts";
import { cases, isLong, longTest, pointsApart } from "../support/runs.ts";

/** A message to a separate number, because a conversation is sent in sequence. */
function hello(key: string): { readonly to: string; readonly body: string } {
  if (!numbers.has(key)) numbers.set(key, `+1212${String(numbers.size).padStart(7, "0")}`);
  return { to: numbers.get(key) ?? "", body: `Hello ${key}` };
}
const numbers = new Map<string, string>();

function engineOn(
  pool: pg.Pool,
  line: Carrier = carrier(),
  clock: Clock = system().clock,
): MessagingEngine {
  const engine = new MessagingEngine({
    storage: postgres({ pool }),
    transports: [line],
    clock,
    random: system().random,
  });
  onTestFinished(() => engine.stop({ deadlineMs: 0 }));
  return engine;
}

/** A carrier with look-ups. */
function carrierWithLookups(): Carrier {
  const line: Carrier = carrier({
    lookup: (_, { attempt_id }) =>
      line.calls.some(({ attempt }) => attempt.attempt_id === attempt_id)
        ? { outcome: "sent", provider_message_id: providerId({ attempt_id }), receipts: [] }
        : { outcome: "not_sent" },
  });
  return line;
}

/** A fast clock: a lease lapses in three seconds of real time. */
const fastEngineClock = (): Clock => fastClock(epoch(20));

/** The ids of the messages under a key. */
async function made(db: Database, key: string): Promise<string[]> {
  const pool = db.pool({ max: 1 });
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM tidings_messages WHERE idempotency_key = $1",
    [key],
  );
  await pool.end();
  return rows.map(({ id }) => id);
}

/** Sends with a key. Returns the message's id, or a retryable error. */
async function send({ messages }: MessagingEngine, key: string): Promise<string | TidingsError> {
  try {
    return (await messages.send(hello(key), { idempotencyKey: key })).id;
  } catch (error) {
    if (!(error instanceof TidingsError)) throw error;
    expect([error.status, error.retryable]).toEqual([503, true]);
    return error;
  }
}

async function sendUntilTaken(engine: MessagingEngine, key: string): Promise<string> {
  for (;;) {
    const answer = await send(engine, key);
    if (typeof answer === "string") return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The last statement of a send that inserts rows. */
async function lastInsertion(proxy: PostgresProxy, engine: MessagingEngine): Promise<string> {
  const insertions: string[] = [];
  void proxy.cutAt(({ sql }) => {
    if (sql.startsWith("INSERT")) insertions.push(sql);
    return false;
  }, "after");
  await engine.messages.send(hello("the first"));
  return insertions.at(-1) ?? expect.fail("nothing was inserted");
}

describe("a connection that is cut", () => {
  it.each(cases(["before", "after"] as const, (when) => when === "after"))(
    "%s any statement of a send leads to an answer and one message",
    async (when) => {
      const db = await database(await migrated());
      const proxy = await db.proxy();
      const engine = engineOn(db.pool({ connectionString: proxy.url }));
      const insertion = await lastInsertion(proxy, engine);
      let failed = 0;
      /** Sends a message, and cuts the connection at a statement. Returns whether there was one. */
      const isCut = async (key: string, matches: (each: Statement) => boolean) => {
        let cut = false;
        void proxy.cutAt(matches, when).then(() => (cut = true));
        const answer = await send(engine, key);
        if (typeof answer !== "string") failed++;
        const id = await sendUntilTaken(engine, key);
        expect(await made(db, key)).toEqual([id]);
        if (typeof answer === "string") expect(id).toBe(answer);
        return cut;
      };

      // Its round trip also commits. The cuts that follow may skip it.
      expect(await isCut(`${when}-last`, ({ sql }) => sql === insertion)).toBe(true);
      // Several sends, because the cut statement may be a notification that no send waits for.
      const wholeSends = isLong ? 3 : 1;
      for (let number = 1, whole = 0; whole < wholeSends; number += pointsApart(4)) {
        const from = proxy.statements;
        const at = (each: Statement): boolean => each.number === from + number;
        if (!(await isCut(`${when}-${number}`, at))) whole++;
      }
      expect(failed).toBeGreaterThan(1);
    },
  );

  it("causes a retryable 503 over HTTP", async () => {
    const db = await database(await migrated());
    const proxy = await db.proxy();
    const engine = engineOn(db.pool({ connectionString: proxy.url }));
    const { apiKeys } = engine.account();
    const { secret } = await apiKeys.create({ name: "a client" });
    const post = (key: string): Promise<Response> =>
      fetchHandler(engine)(
        new Request("http://localhost/v1/messages", {
          method: "POST",
          headers: {
            authorization: `Bearer ${secret}`,
            "content-type": "application/json",
            "idempotency-key": key,
          },
          body: JSON.stringify(hello(key)),
        }),
      );
    expect((await post("first")).status).toBe(201);
    void proxy.cutAt(({ sql }) => /INSERT INTO .*tidings_messages"/.test(sql), "after");
    const broken = await post("second");
    expect(broken.status).toBe(503);
    expect(await broken.json()).toMatchObject({ code: "storage_unavailable", retryable: true });
    const again = await post("second");
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(await made(db, "second")).toHaveLength(1);
  });

  it("loses and repeats no jobs", async () => {
    const db = await database(await migrated());
    const proxy = await db.proxy();
    const line = carrierWithLookups();
    const engine = engineOn(db.pool({ connectionString: proxy.url }), line, fastEngineClock());
    await engine.start();
    const sending = Array.from({ length: 60 }, (_, n) => sendUntilTaken(engine, `m${n}`));
    for (let n = 0; n < 8; n++) {
      await eventually(() => expect(line.calls.length).toBeGreaterThanOrEqual(5 * n));
      // Also during writes, before and after their execution.
      if (n % 2 === 0) proxy.cut();
      else {
        void proxy.cutAt(
          ({ sql }) => /^(INSERT|UPDATE)/.test(sql),
          n % 4 === 1 ? "before" : "after",
        );
      }
    }
    const ids = await Promise.all(sending);
    await eventually(() => expect(line.calls).toHaveLength(60));
    expect(line.calls.map(({ message }) => message.message_id).toSorted()).toEqual(ids.toSorted());
  });
});

describe("a server", () => {
  longTest("loses and duplicates nothing if it restarts and crashes under load", async () => {
    const server = await startPostgres();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const db = await makeDatabase(server.url);
    const pool = db.pool();
    const line = carrierWithLookups();
    const engine = engineOn(pool, line, fastEngineClock());
    await engine.start();
    const taken = new Map<string, string>();
    let over = false;
    const load = Array.from({ length: 6 }, async (_, client) => {
      for (let n = 0; !over; n++) {
        taken.set(`${client}-${n}`, await sendUntilTaken(engine, `${client}-${n}`));
      }
    });
    const more = async (): Promise<void> => {
      const before = taken.size;
      await eventually(() => expect(taken.size).toBeGreaterThan(before + 20));
    };
    for (const how of ["fast", "immediate", "fast"] as const) {
      await more();
      await server.stop(how);
      await server.start();
    }
    await more();
    over = true;
    await Promise.all(load);

    await eventually(async () => {
      const { rows } = await pool.query(
        "SELECT status, count(*)::int FROM tidings_messages GROUP BY status",
      );
      expect(rows).toEqual([{ status: "sent", count: taken.size }]);
    });
    const called = line.calls.map(({ message }) => message.message_id);
    expect(called.toSorted()).toEqual([...taken.values()].toSorted());
  });

  it("that is read-only fails writes with the reason, allows reads, and recovers", async () => {
    const db = await database(await migrated());
    const engine = engineOn(db.pool());
    const id = await sendUntilTaken(engine, "before");
    const admin = db.pool({ max: 1 });
    await admin.query("SET default_transaction_read_only = off");
    await admin.query(`ALTER DATABASE ${db.name} SET default_transaction_read_only = on`);
    const standby = engineOn(db.pool());
    expect(await send(standby, "meanwhile")).toMatchObject({
      message: expect.stringContaining("read-only"),
    });
    expect((await standby.messages.get(id)).id).toBe(id);
    await admin.query(`ALTER DATABASE ${db.name} RESET default_transaction_read_only`);
    expect(await made(db, "meanwhile")).toEqual([]);
    await eventually(async () => expect(typeof (await send(standby, "meanwhile"))).toBe("string"));
  });

  it("with another default isolation level works", async () => {
    const db = await database(await migrated());
    await db
      .pool({ max: 1 })
      .query(`ALTER DATABASE ${db.name} SET default_transaction_isolation = 'serializable'`);
    const engines = [engineOn(db.pool()), engineOn(db.pool())] as const;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => send(engines[n % 2 === 0 ? 0 : 1], `k${n}`)),
    );
    expect(answers.filter((each) => typeof each !== "string")).toEqual([]);
  });
});

/** Makes the first `count` insertions of messages fail with an SQL state. */
async function failing(
  db: Database,
  state: string,
  times: number,
): Promise<{ readonly heal: () => Promise<void> }> {
  const pool = db.pool({ max: 1 });
  // A rollback does not reset a sequence.
  await pool.query(`
    CREATE SEQUENCE failures;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('failures') <= ${times} THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = '${state}'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER fail BEFORE INSERT ON tidings_messages FOR EACH ROW EXECUTE FUNCTION fail()`);
  return { heal: async () => void (await pool.query("DROP TRIGGER fail ON tidings_messages")) };
}

describe("an error of the database", () => {
  const temporary = [
    { what: "a serialization failure", state: "40001" },
    { what: "a deadlock", state: "40P01" },
    { what: "a lock that is not to be had", state: "55P03" },
  ];

  it.each(cases(temporary, ({ state }) => state === "40001"))(
    "of temporary nature, $what, is retried and not reported",
    async ({ state }) => {
      const db = await database(await migrated());
      const engine = engineOn(db.pool());
      await failing(db, state, 2);
      const id = await send(engine, "once");
      expect(await made(db, "once")).toEqual([id]);
    },
  );

  const lasting = [
    { what: "a full disk", state: "53100", says: "disk" },
    { what: "memory that is used up", state: "53200", says: "memory" },
    { what: "a canceled statement", state: "57014", says: "timeout" },
    { what: "something that nobody foresaw", state: "XX000", says: "reported an error" },
  ];

  it.each(cases(lasting, ({ state }) => ["53100", "XX000"].includes(state)))(
    "of lasting nature, $what, is a 503 while it lasts, and leaves no trace",
    async ({ state, says }) => {
      const db = await database(await migrated());
      const engine = engineOn(db.pool());
      const { heal } = await failing(db, state, 1_000_000);
      const others = ["a", "b", "c"].map((key) => send(engine, key));
      for (const answer of await Promise.all(others)) {
        expect(answer).toMatchObject({
          code: "storage_unavailable",
          message: expect.stringContaining(says),
        });
      }
      expect(await made(db, "a")).toEqual([]);
      await heal();
      expect(typeof (await send(engine, "a"))).toBe("string");
    },
  );

  longTest(
    "from a lock held beyond the statement timeout is a 503 until the lock is released",
    async () => {
      const db = await database(await migrated());
      const engine = engineOn(db.pool({ statement_timeout: 1_000 }));
      await sendUntilTaken(engine, "before");
      const host = await db.pool({ max: 1 }).connect();
      await host.query("BEGIN; LOCK TABLE tidings_messages IN ACCESS EXCLUSIVE MODE");
      expect(await send(engine, "meanwhile")).toMatchObject({ status: 503 });
      await host.query("ROLLBACK");
      host.release();
      const id = await sendUntilTaken(engine, "meanwhile");
      expect(await made(db, "meanwhile")).toEqual([id]);
    },
  );
});

describe("a pool", () => {
  longTest(
    "that the host application exhausts makes commands time out, and works once a connection is free",
    async () => {
      const db = await database(await migrated());
      const pool = db.pool({ max: 3, connectionTimeoutMillis: 1_000 });
      const engine = engineOn(pool);
      await sendUntilTaken(engine, "before");
      const taken: pg.PoolClient[] = [];
      for (let full = false; !full;) {
        await pool.connect().then(
          (client) => taken.push(client),
          () => (full = true),
        );
      }
      expect(await send(engine, "meanwhile")).toMatchObject({ code: "storage_unavailable" });
      for (const client of taken) client.release();
      const id = await sendUntilTaken(engine, "meanwhile");
      expect(await made(db, "meanwhile")).toEqual([id]);
    },
  );

  it.each(cases([2, 5], (max) => max === 2))(
    "of %i connections serves a started engine, its consumer, and many concurrent commands",
    async (max) => {
      const db = await database(await migrated());
      const line = carrier();
      const engine = engineOn(db.pool({ max }), line);
      const seen: string[] = [];
      engine.consume("seen", ["conversation.created"], ({ id }) => void seen.push(id));
      await engine.start();
      const count = isLong ? 100 : 30;
      const keys = Array.from({ length: count }, (_, n) => `k${n}`);
      const answers = await Promise.all(keys.map((key) => send(engine, key)));
      expect(answers.filter((each) => typeof each !== "string")).toEqual([]);
      await engine.transaction((tx) => engine.messages.send(hello("own"), { tx }));
      await eventually(() => expect(line.calls).toHaveLength(count + 1));
      await eventually(() => expect(seen).toHaveLength(count + 1));
    },
  );

  it("of one connection can migrate, and is refused when an engine opens it", async () => {
    const db = await database();
    const engine = engineOn(db.pool({ max: 1 }));
    await engine.migrate();
    const refused = {
      code: "invalid_option",
      retryable: false,
      message: "postgres: pool: expected a pool of at least 2 connections, got one of 1",
    };
    await expect(engine.start()).rejects.toMatchObject(refused);
    await expect(engine.messages.send(hello("once"))).rejects.toMatchObject(refused);
  });

  it("that the host application has ended is no failure of the server: it cannot be retried", async () => {
    const db = await database(await migrated());
    const pool = db.pool();
    const ended = expect.objectContaining({
      code: "storage_unavailable",
      retryable: false,
      message: expect.stringContaining("The pool has been ended.") as unknown,
    }) as unknown;
    const engine = engineOn(pool);
    await sendUntilTaken(engine, "before");
    const poolEnd = pool.end();
    await expect(engine.messages.send(hello("after"))).rejects.toEqual(ended);
    await poolEnd;
    await engine.stop();
    await expect(engineOn(pool).start()).rejects.toEqual(ended);
  });
});
