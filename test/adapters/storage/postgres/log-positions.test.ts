import { describe, expect, it } from "vitest";
import {
  entriesByPosition,
  entriesByTopic,
} from "../../../../adapters/testing/conformance/storage/collections.ts";
import type { StoragePort } from "../../../../src/ports/storage.ts";
import { eventually } from "../../../support/eventually.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { write } from "../port.ts";
import { client, followed, ids, insert, log, opened } from "./rows.ts";

describe("positions in a log", () => {
  it("are assigned to rows of host transactions in the order of writing, by the first reader of the log", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    const hosts = [await client(where), await client(where)];
    for (const host of hosts) await host.query("BEGIN");
    for (const id of ["b", "a", "c"]) {
      for (const [i, host] of hosts.entries()) {
        await one.host(host).commit([log(`${i}${id}`), log(`${i}${id}+`)]);
      }
    }
    await write(two, log("own"));
    await hosts[1]?.query("COMMIT");
    const [first, second] = await Promise.all([followed(one), followed(two)]);
    expect(ids(first)).toEqual(["own", "1b", "1b+", "1a", "1a+", "1c", "1c+"]);
    expect(second).toEqual(first);
    await write(two, log("later"));
    await hosts[0]?.query("COMMIT");
    const [topic] = await one.reader.get([{ index: entriesByTopic, key: ["news"], limit: 100 }]);
    expect(topic).toHaveLength(8);
    expect(ids((await followed(two)).slice(7))).toEqual([
      "later",
      "0b",
      "0b+",
      "0a",
      "0a+",
      "0c",
      "0c+",
    ]);
    expect((await followed(two)).slice(0, 7)).toEqual(first);
  });

  it("never show a position before a lower one, with concurrent writes of processes and host applications", async () => {
    const where = await database();
    const [one, two, reader] = [await opened(where), await opened(where), await opened(where)];
    const rounds = 40;
    const host = async (n: number): Promise<void> => {
      const own = await client(where);
      for (let i = 0; i < rounds; i++) {
        await own.query("BEGIN");
        await one.host(own).commit([log(`host${n}-${i}`)]);
        if (i % 3 === 0) await own.query("SELECT pg_sleep(0.005)");
        await own.query(i % 5 === 4 ? "ROLLBACK" : "COMMIT");
      }
    };
    const group = async (port: StoragePort, n: number): Promise<void> => {
      for (let i = 0; i < rounds; i++) {
        await write(port, log(`group${n}-${i}`), insert(`i${n}-${i}`));
      }
    };
    let done = false;
    const written = Promise.all([host(0), host(1), group(one, 0), group(two, 1)]).finally(
      () => (done = true),
    );
    const seen: object[] = [];
    for (let rest = 2; rest > 0; rest -= done ? 1 : 0) {
      const after = [Number(Reflect.get(seen.at(-1) ?? { position: 0 }, "position"))];
      seen.push(
        ...(await reader.reader.range({
          index: entriesByPosition,
          prefix: [],
          order: "ascending",
          after,
          limit: 7,
        })),
      );
      if (seen.length % 7 > 0) await reader.yieldToEventLoop();
      else rest = Math.max(rest, 2);
    }
    await written;
    const all = await reader.reader.range({
      index: entriesByPosition,
      prefix: [],
      order: "ascending",
      limit: 1_000,
    });
    expect(all).toHaveLength(2 * rounds + 2 * (rounds - Math.floor(rounds / 5)));
    expect(ids(all).slice(0, seen.length)).toEqual(ids(seen));
  });

  it("of a large host transaction precede those of the next group", async () => {
    const where = await database();
    const port = await opened(where);
    const host = await client(where);
    await host.query("BEGIN");
    await port.host(host).commit(Array.from({ length: 3_000 }, (_, i) => log(`${i}`)));
    await host.query("COMMIT");
    await write(port, log("next"));
    const index = entriesByPosition;
    const last = { index, prefix: [], order: "descending", limit: 2 } as const;
    expect(ids(await port.reader.range(last))).toEqual(["next", "2999"]);
  });

  it("of a slow commit precede those of a fast one, and neither is visible before both can be", async () => {
    const where = await database();
    const [one, two] = [await opened(where), await opened(where)];
    const admin = where.pool();
    // The server has assigned the positions and delays the commit.
    await admin.query(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON tidings_conformance_entries DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.id = 'slow') EXECUTE FUNCTION dawdle();`);
    const slow = write(one, log("slow"));
    await eventually(async () => {
      const sleeping =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
      expect((await admin.query(sleeping)).rowCount).toBe(1);
    });
    await write(two, log("quick"));
    expect(ids(await followed(two))).toEqual(["slow", "quick"]);
    await slow;
  });

  it("are not used again after the log's last rows were deleted", async () => {
    const where = await database();
    const port = await opened(where);
    await write(port, log("a"), log("b"));
    const last = async (): Promise<number> =>
      Number(Reflect.get((await followed(port)).at(-1) ?? {}, "position"));
    const before = await last();
    await where.pool().query("DELETE FROM tidings_conformance_entries");
    await write(port, log("c"));
    expect(await last()).toBeGreaterThan(before);
  });
});
