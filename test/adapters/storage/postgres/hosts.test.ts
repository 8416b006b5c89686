import type pg from "pg";
import { describe, expect, it, vi } from "vitest";
import { itemById } from "../../../../adapters/testing/conformance/storage/collections.ts";
import { StorageConflict, type Write } from "../../../../src/ports/storage.ts";
import type { Database } from "../../../support/postgres/temporary-database.ts";
import { database } from "../../../support/postgres/test-database.ts";
import { write } from "../port.ts";
import { allIds, client, close, followed, ids, insert, log, opened } from "./rows.ts";

describe("a transaction of the host application", () => {
  it("includes the engine's rows, and commits or undoes them with its own", async () => {
    const where = await database();
    const port = await opened(where);
    const host = await client(where);
    await host.query("CREATE TABLE orders (id text)");
    for (const end of ["ROLLBACK", "COMMIT"]) {
      await host.query("BEGIN");
      await host.query("INSERT INTO orders VALUES ('o')");
      await port.host(host).commit([insert("a"), log("e")]);
      const group = port.host(host);
      expect(ids((await group.read([{ index: itemById, key: ["a"], limit: 1 }]))[0])).toEqual([
        "a",
      ]);
      await group.commit([close("a")]);
      expect(await allIds(port)).toEqual([]);
      await host.query(end);
    }
    expect((await host.query("SELECT * FROM orders")).rowCount).toBe(1);
    expect(await allIds(port)).toEqual(["a"]);
    expect(ids(await followed(port))).toEqual(["e"]);
  });

  it("stays usable after a conflict or a refused value, its settings included", async () => {
    const where = await database();
    const port = await opened(where);
    const host = await client(where);
    await write(port, insert("a"));
    await host.query("BEGIN");
    await host.query("SET LOCAL lock_timeout = '7s'");
    const settings = async (): Promise<unknown> =>
      (await host.query("SELECT name, setting FROM pg_settings ORDER BY 1")).rows;
    const before = await settings();
    await expect(port.host(host).commit([insert("b"), insert("a")])).rejects.toThrow(
      StorageConflict,
    );
    await expect(port.host(host).commit([{ ...close("a"), version: 9 } as Write])).rejects.toThrow(
      StorageConflict,
    );
    await host.query("SAVEPOINT mine; CREATE TABLE other (id text); ROLLBACK TO SAVEPOINT mine");
    await port.host(host).commit([insert("c")]);
    await port.host(host).abort();
    expect(await settings()).toEqual(before);
    await host.query("COMMIT");
    expect(await allIds(port)).toEqual(["a", "c"]);
  });

  it("stays usable after a conflict of one engine, although another engine uses it at the same time", async () => {
    const where = await database();
    const one = await opened(where);
    const two = await opened(where, {}, "other");
    const host = await client(where);
    await write(one, insert("a"));
    await host.query("BEGIN");
    // Both verify the client here.
    await one.host(host).commit([insert("b")]);
    await two.host(host).commit([insert("b")]);
    await Promise.allSettled([
      one.host(host).commit([insert("a")]),
      two.host(host).commit([insert("c")]),
    ]);
    expect((await host.query("COMMIT")).command).toBe("COMMIT");
    expect(await allIds(one)).toEqual(["a", "b"]);
  });

  it("that cannot be joined is refused with the reason: no client, a pool, no transaction, a failed one, another database", async () => {
    const [where, elsewhere] = [await database(), await database()];
    const port = await opened(where);
    const host = await client(where);
    expect(() => port.host({})).toThrow(/expected a client of the database.*got an object/);
    expect(() => port.host(undefined)).toThrow(/got undefined/);
    expect(() => port.host(where.pool())).toThrow(/got a pool.*pool\.connect\(\)/);
    expect(() => port.host(host)).toThrow(/open transaction.*BEGIN/);
    // Where the driver cannot tell, the first write finds out.
    const blind = { query: host.query.bind(host) };
    await expect(port.host(blind).commit([insert("a")])).rejects.toMatchObject({
      code: "invalid_option",
    });
    await host.query("BEGIN");
    await expect(host.query("SELECT nonsense")).rejects.toThrow(/nonsense/);
    // At once, or by the first write where the driver does not know yet.
    await expect((async () => port.host(host).commit([insert("a")]))()).rejects.toThrow(/failed/);
    expect(() => port.host(host)).toThrow(/failed/);
    await host.query("ROLLBACK");
    const stranger = await client(elsewhere);
    await stranger.query("BEGIN");
    await expect(port.host(stranger).commit([insert("a")])).rejects.toThrow(/another database/);
    await expect(port.host(stranger).read([])).rejects.toThrow(/another database/);
    // The check does not fail the host application's transaction.
    await stranger.query("SELECT 1");
    await (await opened(elsewhere)).host(await begun(elsewhere)).commit([insert("a")]);
    expect(await allIds(port)).toEqual([]);
  });

  /** Begins a transaction on a client, which may send ahead, and reads in a group inside it. */
  async function groupThatRead(pipeline: boolean) {
    const where = await database();
    const port = await opened(where);
    const host = await client(where, { pipeline });
    await host.query("BEGIN");
    const group = port.host(host);
    await group.read([{ index: itemById, key: ["a"], limit: 1 }]);
    return { port, host, group };
  }

  it.each([true, false])(
    "stores nothing of a command that ends after it, if its client sends ahead: %s",
    async (pipeline) => {
      const { port, host, group } = await groupThatRead(pipeline);
      await host.query("ROLLBACK");
      await expect(group.commit([insert("a")])).rejects.toMatchObject({ code: "invalid_option" });
      expect(await allIds(port)).toEqual([]);
    },
  );

  it.each([true, false])(
    "stores nothing of a command that it ends during, if its client sends ahead: %s",
    async (pipeline) => {
      const { port, host, group } = await groupThatRead(pipeline);
      const [{ query }, sends] = [host, Promise.withResolvers<void>()];
      vi.spyOn(host, "query").mockImplementationOnce((...args: unknown[]) => {
        sends.resolve();
        return Reflect.apply(query, host, args) as unknown;
      });
      const committing = group.commit([insert("a"), insert("b")]);
      await sends.promise;
      await Promise.allSettled([committing, host.query("ROLLBACK")]);
      expect(await allIds(port)).toEqual([]);
    },
  );

  it("that stays open delays only writers of the same rows, and only for a moment", async () => {
    const where = await database();
    const port = await opened(where);
    await write(port, insert("a"), insert("b"), log("before"));
    const host = await begun(where);
    await port.host(host).commit([close("a"), log("hosts"), insert("new", { label: "taken" })]);
    await write(port, close("b"), log("meanwhile"));
    await expect(write(port, close("a"))).rejects.toThrow(StorageConflict);
    await expect(write(port, insert("c", { label: "taken" }))).rejects.toThrow(StorageConflict);
    expect(ids(await followed(port))).toEqual(["before", "meanwhile"]);
    await host.query("COMMIT");
    expect(ids(await followed(port))).toEqual(["before", "meanwhile", "hosts"]);
    await expect(write(port, close("a"))).rejects.toThrow(StorageConflict);
  });

  const begun = async (where: Database): Promise<pg.PoolClient> => {
    const host = await client(where);
    await host.query("BEGIN");
    return host;
  };
});

describe("a transaction of engine.transaction", () => {
  const ignoredError = {
    code: "invalid_option",
    retryable: false,
    message: expect.stringMatching(
      /^transaction: a statement failed, and your function ignored its error.* Let errors through/,
    ),
  };

  it("in which a statement failed, and whose function ignored that, is rolled back with advice", async () => {
    const where = await database();
    const port = await opened(where);
    const failed = port.transaction(async (handle) => {
      await port.host(handle).commit([insert("a")]);
      await fail(handle as pg.PoolClient);
    });
    await expect(failed).rejects.toMatchObject(ignoredError);
    expect(await allIds(port)).toEqual([]);
  });

  it("gives the same advice to a command after an ignored error, and goes on after a rollback to a savepoint", async () => {
    const where = await database();
    const port = await opened(where);
    await port.transaction(async (handle) => {
      const host = handle as pg.PoolClient;
      await port.host(handle).commit([insert("a")]);
      await host.query("SAVEPOINT mine");
      await fail(host);
      // At once, or by the first statement where the driver does not know yet.
      const command = async () => port.host(handle).commit([insert("b")]);
      await expect(command()).rejects.toMatchObject(ignoredError);
      await expect(command()).rejects.toMatchObject(ignoredError);
      await host.query("ROLLBACK TO SAVEPOINT mine");
      await port.host(handle).commit([insert("c")]);
    });
    expect(await allIds(port)).toEqual(["a", "c"]);
  });

  it("throws the driver's error when a unique key that is checked at COMMIT is taken", async () => {
    const where = await database();
    const port = await opened(where);
    const unique = "CREATE TABLE numbers (n INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)";
    await where.pool().query(unique);
    const failed = port.transaction(async (handle) => {
      await (handle as pg.PoolClient).query("INSERT INTO numbers VALUES (1), (1)");
    });
    await expect(failed).rejects.toMatchObject({ code: "23505", table: "numbers" });
  });

  // PostgreSQL refuses this after a SAVEPOINT and after a query.
  it("whose connection is cut while a command with a conflict is undone reports the outage", async () => {
    const where = await database();
    const proxy = await where.proxy();
    const port = await opened(where, { connectionString: proxy.url });
    await write(port, insert("a"));
    const transaction = port.transaction(async (handle) => {
      void proxy.cutAt(({ sql }) => sql.startsWith("ROLLBACK TO"), "before");
      // The store runs a command again after a conflict, but not after an outage.
      await port.host(handle).commit([insert("a")]);
    });
    await expect(transaction).rejects.toMatchObject({
      code: "storage_unavailable",
      retryable: true,
    });
    await write(port, insert("b"));
  });

  it("lets its first statement choose the isolation level", async () => {
    const where = await database();
    const port = await opened(where);
    const rows = await port.transaction(async (handle) => {
      const host = handle as pg.PoolClient;
      await host.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
      await port.host(handle).commit([insert("a")]);
      return (await host.query<object>("SHOW transaction_isolation")).rows;
    });
    expect(rows).toEqual([{ transaction_isolation: "serializable" }]);
    expect(await allIds(port)).toEqual(["a"]);
  });

  const fail = async (host: pg.PoolClient): Promise<void> =>
    expect(host.query("SELECT nonsense")).rejects.toThrow(/nonsense/);
});
