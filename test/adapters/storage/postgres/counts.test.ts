/** What transactions of the host application add to counters (`pending-counts.ts`). */
import { describe, expect, it } from "vitest";
import { sumByDay, sums } from "../../../../adapters/testing/conformance/storage/collections.ts";
import type { StoragePort, Write } from "../../../../src/ports/storage.ts";
import type { Database } from "../../../support/postgres/temporary-database.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { write } from "../port.ts";
import { client, log, opened } from "./rows.ts";

describe("counters on PostgreSQL", () => {
  const add = (day: string, count = 1): Write => ({
    kind: "add",
    collection: sums,
    row: { day, kind: "sms", count, cost: 0.5 },
  });
  const countsIn = async (port: StoragePort): Promise<readonly (readonly unknown[])[]> => {
    const all = { index: sumByDay, prefix: [], order: "ascending", limit: 9 } as const;
    return (await port.reader.range(all)).map(({ day, count, cost }) => [day, count, cost]);
  };
  const pendingIn = async (where: Database): Promise<number | null> =>
    (await where.pool().query("SELECT FROM tidings_pending_counts")).rowCount;

  it("have the additions of a host transaction when it is committed, with many rows and any text", async () => {
    const where = await database();
    const port = await opened(where);
    await write(port, add("mon"), add("tue"));
    const host = await client(where);
    const odd = 'it\'s \u0000 \u0001 "odd" \\ \u{1F600}';
    for (const end of ["ROLLBACK", "COMMIT"]) {
      await host.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await port.host(host).commit([add("mon", 10), add("wed", -7), add(odd)]);
      await write(port, add("mon"));
      await port.host(host).commit([add("mon", 100), log("e")]);
      await host.query(end);
    }
    const expected = [
      [odd, 1, 0.5],
      ["mon", 113, 2.5],
      ["tue", 1, 0.5],
      ["wed", -7, 0.5],
    ];
    expect(await countsIn(port)).toEqual(expected);
    expect(await pendingIn(where)).toBe(0);
    const [found] = await port.reader.get([{ index: sumByDay, key: [odd, "sms"], limit: 1 }]);
    expect(found).toEqual([{ day: odd, kind: "sms", count: 1, cost: 0.5 }]);
  });

  it("are complete if more additions wait than one transaction adds up, also for a look-up", async () => {
    const where = await database();
    const port = await opened(where);
    await where.pool().query(
      `INSERT INTO tidings_pending_counts (counter, added) SELECT 'conformance_sums', jsonb_build_object(
         'day', 'd' || n % 3, 'kind', 'sms', 'count', 1, 'cost', 0.25) FROM generate_series(1, 2500) AS n`,
    );
    const [found] = await port.reader.get([{ index: sumByDay, key: ["d1", "sms"], limit: 1 }]);
    expect(found).toEqual([{ day: "d1", kind: "sms", count: 834, cost: 208.5 }]);
    expect(await pendingIn(where)).toBe(0);
  });

  it("can be read on a read-only database, without the additions that wait", async () => {
    const where = await database();
    const port = await opened(where);
    await write(port, add("mon"));
    const host = await client(where);
    await host.query("BEGIN");
    await port.host(host).commit([add("mon")]);
    await host.query("COMMIT");
    const setReadOnly = (value: string) =>
      host.query(`ALTER DATABASE ${where.name} SET default_transaction_read_only = ${value}`);
    await setReadOnly("on");
    const standby = await opened(where);
    expect(await countsIn(standby)).toEqual([["mon", 1, 0.5]]);
    await setReadOnly("off");
    expect(await countsIn(await opened(where))).toEqual([["mon", 2, 1]]);
  });

  it("are exact at every read, with concurrent additions of processes and host applications", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    const readers = [await opened(where), await opened(where)];
    const rounds = 40;
    // What was committed when a read began is in its result, and nothing that had not begun.
    const [begun, committed] = [{ count: 0 }, { count: 0 }];
    const host = async (n: number): Promise<void> => {
      const own = await client(where);
      for (let i = 0; i < rounds; i++) {
        const isUndone = i % 5 === 4;
        await own.query("BEGIN");
        await one.host(own).commit([add("mon"), add(`${n}`)]);
        if (i % 3 === 0) await own.query("SELECT pg_sleep(0.005)");
        if (!isUndone) begun.count++;
        await own.query(isUndone ? "ROLLBACK" : "COMMIT");
        if (!isUndone) committed.count++;
      }
    };
    const group = async (port: StoragePort): Promise<void> => {
      for (let i = 0; i < rounds; i++) {
        begun.count++;
        await write(port, add("mon"), add("0"), add("1"));
        committed.count++;
      }
    };
    let isOver = false;
    const written = Promise.all([host(0), host(1), group(one), group(two)]).finally(
      () => (isOver = true),
    );
    const read = async (port: StoragePort): Promise<void> => {
      while (!isOver) {
        const least = committed.count;
        const [found] = await port.reader.get([{ index: sumByDay, key: ["mon", "sms"], limit: 1 }]);
        const count = Number(found?.[0]?.["count"] ?? 0);
        expect(count).toBeGreaterThanOrEqual(least);
        expect(count).toBeLessThanOrEqual(begun.count);
      }
    };
    await Promise.all([written, ...readers.map(read)]);
    const kept = rounds - Math.floor(rounds / 5);
    const total = 2 * rounds + 2 * kept;
    expect(await countsIn(one)).toEqual([
      ["0", 2 * rounds + kept, (2 * rounds + kept) / 2],
      ["1", 2 * rounds + kept, (2 * rounds + kept) / 2],
      ["mon", total, total / 2],
    ]);
  });
});
