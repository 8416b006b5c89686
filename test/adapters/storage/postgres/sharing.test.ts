import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  books,
  itemById,
  itemsByTime,
} from "../../../../adapters/testing/conformance/storage/collections.ts";
import type { Group, StoragePort } from "../../../../src/ports/storage.ts";
import { eventually } from "../../../support/eventually.ts";
import type { Database } from "../../../support/postgres/temporary-database.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { longTest } from "../../../support/runs.ts";
import { write } from "../port.ts";
import { client, close, ids, insert, opened } from "./rows.ts";

describe("several processes on one PostgreSQL database", () => {
  const lock = (limit: number): Parameters<Group["read"]>[0] => [
    { index: itemsByTime, key: ["anna"], limit, lock: true },
  ];

  it("lock different rows without waiting for each other", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    await write(one, ...["a", "b", "c", "d", "e"].map((id, at) => insert(id, { at })));
    const host = await client(where);
    await host.query("BEGIN");
    await two.host(host).commit([close("c")]);
    const [first, second] = [one.begin(), two.begin()];
    expect(ids((await first.read(lock(2)))[0])).toEqual(["a", "b"]);
    expect(ids((await second.read(lock(9)))[0])).toEqual(["d", "e"]);
    await first.commit([close("a")]);
    await second.abort();
    await host.query("ROLLBACK");
    const third = two.begin();
    expect(ids((await third.read(lock(9)))[0])).toEqual(["a", "b", "c", "d", "e"]);
    await third.commit([close("e")]);
  });

  it("lock the rows of queues before others, so that who has locked one waits for nobody that waits for it", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    const book = { shelf: "b", id: "b", words: null, pages: 1, version: 1 };
    await write(one, insert("a"), { kind: "insert", collection: books, row: book });
    const holder = one.begin();
    await holder.read([{ index: itemById, key: ["a"], limit: 1, lock: true }]);
    const host = await client(where);
    await host.query("BEGIN");
    // The name of the collection of books comes before that of items.
    const more = { ...book, pages: 2, version: 2 };
    const other = two.host(host).commit([
      {
        kind: "update",
        collection: books,
        key: ["b", "b"],
        version: 1,
        row: more,
        changed: ["pages"],
      },
      close("a"),
    ]);
    const admin = await client(where);
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted";
      expect((await admin.query(waiting)).rowCount).toBe(1);
    });
    await holder.commit([{ kind: "hold", collection: books, key: ["b", "b"], version: 1 }]);
    await other;
    await host.query("ROLLBACK");
  });

  it("wait while an exclusive group runs", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    await write(one, insert("a"), insert("b"));
    const group = one.begin("exclusive");
    await group.read([{ index: itemById, key: ["a"], limit: 1 }]);
    let through = false;
    const other = write(two, close("b")).then(() => (through = true));
    const admin = await client(where);
    await eventually(async () => {
      const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      expect((await admin.query(waiting)).rowCount).toBe(1);
    });
    expect(through).toBe(false);
    await group.commit([close("a")]);
    await other;
  });

  it("are notified of each other's commits and of host transactions, not of their own, also after a lost connection", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    let heard = 0;
    onTestFinished(one.watch(() => void heard++));
    const next = async (): Promise<void> => {
      const before = heard;
      await eventually(() => expect(heard).toBeGreaterThan(before));
    };
    // The first notification may be about earlier commits.
    await next();
    await write(one, insert("own"));
    const theirs = next();
    await write(two, insert("theirs"));
    await theirs;
    expect(heard).toBe(2);

    const host = await client(where);
    await host.query("BEGIN");
    await one.host(host).commit([insert("hosts")]);
    const hosts = next();
    await host.query("COMMIT");
    await hosts;

    const again = next();
    await host.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()",
    );
    await again;
    const after = next();
    await write(two, insert("after"));
    await after;
  });

  it("send nothing while they are idle", async () => {
    const where = await database();
    const port = await opened(where);
    onTestFinished(port.watch(() => {}));
    const admin = await client(where);
    const asked = async (): Promise<unknown> =>
      (
        await admin.query(
          // The server's own workers, such as autovacuum, come and go.
          "SELECT pid, state_change FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1",
        )
      ).rows;
    await eventually(async () =>
      expect(
        (
          await admin.query(
            "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND state = 'idle' AND datname = current_database()",
          )
        ).rowCount,
      ).toBe(1),
    );
    const before = await asked();
    await sleep(300);
    expect(await asked()).toEqual(before);
  });
});

describe("admitted requests", () => {
  /** Every decision, as the database recorded it. */
  async function audited(
    where: Database,
  ): Promise<() => Promise<{ time: number; admitted: number; count: number }[]>> {
    const admin = await client(where);
    await admin.query(`
      CREATE TABLE audit (n serial, time bigint, admitted integer, count integer);
      CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO audit (time, admitted, count) VALUES (NEW.seen + NEW.ahead, NEW.admitted, cardinality(NEW.times));
        RETURN NULL;
      END $$;
      CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tidings_admissions FOR EACH ROW EXECUTE FUNCTION audit();`);
    return async () => {
      const { rows } = await admin.query<Record<string, string>>(
        "SELECT time, admitted, count FROM audit ORDER BY n",
      );
      return rows.map((row) => ({
        time: Number(row["time"]),
        admitted: Number(row["admitted"]),
        count: Number(row["count"]),
      }));
    };
  }

  longTest(
    "never exceed the limit in any window, and are as many as it allows, across two pools",
    async () => {
      const where = await database();
      const ports = [await opened(where), await opened(where)];
      const audit = await audited(where);
      const [limit, window] = [17, 100];
      let asking = true;
      let [admitted, refused] = [0, 0];
      const ask = async (port: Required<StoragePort>, atOnce: number): Promise<void> => {
        while (asking) {
          const asked = Array.from({ length: atOnce }, () =>
            port.admit([{ key: "k", limit, window }]),
          );
          for (const [answer] of await Promise.all(asked)) {
            if (answer?.admitted === true) admitted++;
            else refused++;
          }
        }
      };
      const asked = Promise.all(ports.flatMap((port) => [ask(port, 1), ask(port, 5)]));
      await eventually(() => expect(admitted).toBeGreaterThan(6 * limit));
      asking = false;
      await asked;
      expect(refused).toBeGreaterThan(limit);
      const judged = await audit();
      const times = judged.flatMap(({ time, admitted: n }) =>
        Array.from({ length: n }, () => time),
      );
      expect(times).toHaveLength(admitted);
      for (const [i, time] of times.entries()) {
        expect(time).toBeGreaterThanOrEqual(times[i - 1] ?? 0);
        if (i >= limit) {
          expect(time - (times[i - limit] ?? 0)).toBeGreaterThanOrEqual(window * 1_000);
        }
      }
      for (const { time, admitted: n, count } of judged) {
        const within = times.filter((each) => each > time - window * 1_000 && each <= time).length;
        expect(count).toBe(within);
        // A refused request met a full window.
        if (n === 0) expect(count).toBe(limit);
      }
    },
  );

  it("count against a lowered limit: the wait ends when enough of them have left the window", async () => {
    const where = await database();
    const port = await opened(where);
    // The test compares differences between times: they do not depend on when it asks.
    const gaps = [7_000, 1_000, 30_000, 2_000, 11_000];
    const request = { key: "k", limit: gaps.length + 1, window: 600_000 };
    await port.admit([request]);
    const sinceFirst = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((a, b) => a + b, 0));
    await where.pool().query(
      `UPDATE tidings_admissions SET times = ARRAY(
         SELECT times[1] - 100000000 + 1000 * ms FROM unnest($1::bigint[]) AS ms)`,
      [[0, ...sinceFirst]],
    );
    for (let limit = request.limit; limit >= 1; limit--) {
      const [refused] = await port.admit([{ ...request, limit }]);
      expect(refused).toMatchObject({ admitted: false, limit, remaining: 0 });
      const newestAfterFreed = gaps
        .slice(request.limit - limit)
        .reduce((total, each) => total + each, 0);
      expect(
        (refused?.reset_ms ?? 0) - (refused?.retry_after_ms ?? 0),
        `at a limit of ${limit}, from the wait until the next is admitted to the wait until none counts`,
      ).toBe(newestAfterFreed);
    }
  });

  longTest(
    "are no more when the server's clock steps back, and wait no longer than a window",
    async () => {
      const where = await database();
      const port = await opened(where);
      const request = { key: "k", limit: 2, window: 1_000 };
      const ask = async (): Promise<boolean> => (await port.admit([request]))[0]?.admitted === true;
      expect([await ask(), await ask(), await ask()]).toEqual([true, true, false]);
      // As if the clock had been an hour ahead until now.
      const hour = 3_600_000_000;
      await where
        .pool()
        .query(
          `UPDATE tidings_admissions SET seen = seen + ${hour}, times = ARRAY(SELECT t + ${hour} FROM unnest(times) AS t)`,
        );
      const [refused] = await port.admit([request]);
      expect(refused).toMatchObject({ admitted: false, remaining: 0 });
      expect(refused?.retry_after_ms).toBeLessThanOrEqual(1_000);
      // A timer may end a millisecond early.
      await sleep((refused?.retry_after_ms ?? 0) + 5);
      expect(await ask()).toBe(true);
    },
  );
});
