import type pg from "pg";
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../../../../src/kernel/errors.ts";
import type { StoragePort } from "../../../../../src/ports/storage.ts";
import { eventually } from "../../../../support/eventually.ts";
import type { Database } from "../../../../support/postgres/temporary-database.ts";
import { database } from "../../../../support/postgres/test-database.ts";
import { cases } from "../../../../support/runs.ts";
import { insertNote, noteById, notes } from "../../notes.ts";
import { write } from "../../port.ts";
import { opened, unavailable } from "./opened.ts";

/** A pool of two connections through a proxy. */
async function proxied(where: Database, schema?: string) {
  const proxy = await where.proxy();
  const pool = where.pool({ connectionString: proxy.url, max: 2 });
  return { proxy, pool, port: await opened(pool, schema) };
}

/** Whether all connections were returned to the pool. */
const allFree = ({ totalCount, idleCount, waitingCount }: pg.Pool): boolean =>
  totalCount === idleCount && waitingCount === 0;

async function code(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => {
      if (error instanceof TidingsError) return error.code;
      throw error;
    },
  );
}

describe("when the connection to PostgreSQL is cut", () => {
  const parts: [what: string, run: (port: Required<StoragePort>) => Promise<unknown>][] = [
    ["a commit", (port) => write(port, insertNote("a"), insertNote("b"))],
    [
      "an exclusive group",
      async (port) => {
        const group = port.begin("exclusive");
        try {
          await group.read([{ index: noteById, key: ["old"], limit: 1 }]);
          await group.read([{ index: noteById, key: ["b"], limit: 1, lock: true }]);
          await group.commit([insertNote("a"), insertNote("b")]);
        } finally {
          await group.abort();
        }
      },
    ],
    [
      "a transaction",
      (port) =>
        port.transaction(async (handle) => {
          await port.host(handle).commit([insertNote("a")]);
          await port.host(handle).commit([insertNote("b")]);
        }),
    ],
  ];

  it.each(cases(parts, ([what]) => what === "a commit"))(
    "at any statement of %s, everything or nothing is committed, and the next one works",

    async (_, run) => {
      const where = await database();
      for (const when of ["before", "after"] as const) {
        const ends = new Set<string>();
        for (let nth = 1; ; nth++) {
          const { proxy, pool, port } = await proxied(where, `${when}_${nth}`);
          await write(port, insertNote("old"));
          let passed = 0;
          // Notifications use another connection.
          void proxy.cutAt(
            ({ sql }) => !/pg_notify|synchronous_commit/.test(sql) && ++passed === nth,
            when,
          );
          const end = await code(run(port));
          const cut = passed >= nth;
          const there = await notes(port).catch(() => notes(port));
          ends.add(`${end}, ${there.join()}`);
          expect([
            "done, a,b,old",
            "storage_unavailable, old",
            "storage_unavailable, a,b,old",
          ]).toContain(`${end}, ${there.join()}`);
          await write(port, insertNote("next"));
          await eventually(() => expect(allFree(pool)).toBe(true));
          await port.close();
          if (!cut) break;
          expect(nth).toBeLessThan(40);
        }
        // Cut before the commit, nothing is there. Cut before its answer arrives, everything is.
        expect(ends).toContain(
          when === "before" ? "storage_unavailable, old" : "storage_unavailable, a,b,old",
        );
      }
    },
  );

  it("reads fail with the reason, and work on the next connection", async () => {
    const where = await database();
    const { proxy, pool, port } = await proxied(where);
    await write(port, insertNote("a"));
    await expect(notes(port)).resolves.toEqual(["a"]);
    void proxy.cutAt(({ sql }) => sql.startsWith("SELECT 0,"), "before");
    await expect(notes(port)).rejects.toMatchObject(unavailable(/connection/));
    proxy.refuses = true;
    proxy.cut();
    await eventually(() => expect(proxy.connections).toBe(0));
    await expect(notes(port)).rejects.toMatchObject(unavailable(/connection/));
    await expect(write(port, insertNote("b"))).rejects.toMatchObject(unavailable(/connection/));
    proxy.refuses = false;
    await expect(notes(port)).resolves.toEqual(["a"]);
    expect(allFree(pool)).toBe(true);
  });

  it("by an administrator, the error says so, and no unhandled error ends the process", async () => {
    const where = await database();
    const port = await opened(where.pool());
    const admin = where.pool();
    const group = port.begin("exclusive");
    await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await expect(group.commit([insertNote("a")])).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    await group.abort();
    await write(port, insertNote("b"));
    expect(await notes(port)).toEqual(["b"]);
  });
});
