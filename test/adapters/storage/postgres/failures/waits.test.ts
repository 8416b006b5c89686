import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  postgres,
  type PostgresPoolClient,
} from "../../../../../adapters/storage/postgres/index.ts";
import { database } from "../../../../support/postgres/test-database.ts";
import { longTest } from "../../../../support/runs.ts";
import { firstSchema, noteById, notes } from "../../notes.ts";
import { opened, openTransaction, unavailable } from "./opened.ts";

afterEach(() => void vi.useRealTimers());

describe("every wait ends", () => {
  it("when the pool has no free connection, by the pool's own timeout or the storage's", async () => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    const taken = [await pool.connect(), await pool.connect()];
    // Both connections are open, which may take longer on a busy machine.
    pool.options.connectionTimeoutMillis = 50;
    await expect(notes(port)).rejects.toMatchObject(unavailable(/connection/));
    for (const client of taken) client.release();
    expect(await notes(port)).toEqual([]);

    let came: ((client: PostgresPoolClient) => void) | undefined;
    const never = { connect: () => new Promise<PostgresPoolClient>((resolve) => (came = resolve)) };
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const opening = postgres({ pool: never })
      .open(firstSchema)
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await opening).toMatchObject(unavailable(/became free.* more connections/));
    // A connection that comes too late is returned.
    const release = vi.fn<() => void>();
    came?.({ query: () => expect.fail(), release });
    await vi.advanceTimersByTimeAsync(1);
    expect(release).toHaveBeenCalledOnce();
  });

  it("when the server stops responding, and the connection is not used again", async () => {
    const release = vi.fn<(destroy?: boolean) => void>();
    const silent = { query: () => new Promise<never>(() => {}), release };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const pool = { connect: async () => silent };
    const opening = postgres({ pool })
      .open(firstSchema)
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await opening).toMatchObject(unavailable(/did not respond/));
    expect(release).toHaveBeenCalledWith(true);
  });

  it("when too many transactions are open, and those that come later run", async () => {
    const port = await opened((await database()).pool({ max: 2 }));
    const first = await openTransaction(port);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const work = vi.fn<() => Promise<void>>();
    const late = port.transaction(work).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toMatchObject(unavailable(/became free.* more connections/));
    vi.useRealTimers();
    const next = port.transaction(async () => "done");
    await first.end();
    expect(await next).toBe("done");
    expect(work).not.toHaveBeenCalled();
  });

  it("when a transaction waits for its turn and then for a connection, after 10 s in all", async () => {
    const pool = (await database()).pool({ max: 2 });
    const port = await opened(pool);
    const taken = await pool.connect();
    const first = await openTransaction(port);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const refused = vi.fn<(error: unknown) => void>();
    void port.transaction(async () => {}).catch(refused);
    await vi.advanceTimersByTimeAsync(6_000);
    // The host application gets the connection that becomes free.
    const own = pool.connect();
    await first.end();
    await vi.advanceTimersByTimeAsync(4_000);
    for (const client of [taken, await own]) client.release();
    expect(refused.mock.calls).toEqual([
      [expect.objectContaining(unavailable(/became free.* more connections/))],
    ]);
  });

  it("when an exclusive group ends, and it leaves no setting behind", async () => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    await port.transaction(async () => {});
    const group = port.begin("exclusive");
    await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
    const { rows } = await where
      .pool()
      .query<{ held: boolean }>(
        "SELECT count(*) > 0 AS held FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
    expect(rows[0]?.held).toBe(true);
    await group.abort();
    // None of the group's settings stays on the connection.
    const { rows: left } = await pool.query("SHOW idle_in_transaction_session_timeout");
    expect(left).toEqual([{ idle_in_transaction_session_timeout: "0" }]);
  });

  longTest(
    "when another transaction keeps a table locked, and no session waits at the server any more",
    async () => {
      const where = await database();
      const port = await opened(where.pool());
      const host = await where.pool().connect();
      await host.query("BEGIN; LOCK TABLE tidings_notes, tidings_schema");
      onTestFinished(() => host.release(true));
      const group = port.begin("shared");
      const reads = await Promise.allSettled([
        notes(port),
        group.read([{ index: noteById, key: ["a"], limit: 1 }]),
        postgres({ pool: where.pool() }).open(firstSchema),
      ]);
      await group.abort();
      const refused = { status: "rejected", reason: unavailable(/alters a table/) };
      expect(reads).toMatchObject([refused, refused, refused]);
      const { rows } = await host.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity " +
          "WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      expect(rows).toEqual([]);
      await host.query("ROLLBACK");
      expect(await notes(port)).toEqual([]);
    },
  );
});
