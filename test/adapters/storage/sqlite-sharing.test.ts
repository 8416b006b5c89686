import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type ArrayQuery,
  Connection,
} from "../../../adapters/storage/sqlite/connections/connection.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { Reads } from "../../../adapters/storage/sqlite/reads/reads.ts";
import { SqliteStorage } from "../../../adapters/storage/sqlite/storage.ts";
import { Table } from "../../../adapters/storage/sqlite/tables/tables.ts";
import * as conformance from "../../../adapters/testing/conformance/storage/collections.ts";
import type { Index } from "../../../src/ports/collection.ts";
import { type Group, StorageConflict, type StoragePort } from "../../../src/ports/storage.ts";
import { closing, notes, Peer, temporaryDirectory, temporaryFile, write } from "./sqlite-files.ts";
import { firstSchema, insertNote, noteById, updateNote } from "./sqlite-schemas.ts";

async function opened(): Promise<{ port: StoragePort; file: string }> {
  const file = await temporaryFile();
  const port = closing(sqlite({ file }));
  await port.open(firstSchema);
  return { port, file };
}

function joined(port: StoragePort, handle: unknown): Group {
  if (port.host === undefined) throw new Error("host transactions are not offered");
  return port.host(handle);
}

const handles: Record<string, (file: string) => DatabaseSync> = {
  "with the defaults": (file) => new DatabaseSync(file),
  "set to big integers": (file) => new DatabaseSync(file, { readBigInts: true }),
  "set to rows as arrays": (file) => new DatabaseSync(file, { returnArrays: true }),
};

describe.each(Object.entries(handles))(
  "a transaction of the host application on a handle %s",
  (_, open) => {
    const hosted = async (): Promise<{ port: StoragePort; handle: DatabaseSync }> => {
      const { port, file } = await opened();
      const handle = open(file);
      onTestFinished(() => handle.close());
      return { port, handle };
    };

    it("includes the engine's rows, and commits or undoes them with its own", async () => {
      const { port, handle } = await hosted();
      handle.exec("CREATE TABLE orders (id TEXT PRIMARY KEY)");
      for (const end of ["ROLLBACK", "COMMIT"]) {
        handle.exec(
          "BEGIN; INSERT INTO orders VALUES ('o'); INSERT INTO tidings_notes VALUES ('host', 'h', 7, 1)",
        );
        const group = joined(port, handle);
        const [[seen = {}] = []] = await group.read([{ index: noteById, key: ["host"], limit: 1 }]);
        expect(seen).toEqual({ id: "host", text: "h", count: 7, version: 1 });
        await group.commit([insertNote("engine"), updateNote(seen, { count: 8 })]);
        expect(await notes(port)).toEqual([]);
        handle.exec(end);
        expect(handle.prepare("SELECT * FROM orders").all()).toHaveLength(end === "COMMIT" ? 1 : 0);
      }
      expect(await notes(port)).toEqual(["engine", "host"]);
      const [rows] = await port.reader.get([{ index: noteById, key: ["host"], limit: 1 }]);
      expect(rows).toEqual([{ id: "host", text: "h", count: 8, version: 2 }]);
    });

    it("stays usable after a conflicting commit and after an abort", async () => {
      const { port, handle } = await hosted();
      await write(port, insertNote("a"));
      handle.exec("BEGIN; INSERT INTO tidings_notes VALUES ('host', 'h', 7, 1)");
      expect(() => joined(port, handle).commit([insertNote("b"), insertNote("a")])).toThrow(
        StorageConflict,
      );
      await joined(port, handle).abort();
      await joined(port, handle).commit([insertNote("c")]);
      handle.exec("COMMIT");
      expect(await notes(port)).toEqual(["a", "c", "host"]);
    });

    it("that another connection has overtaken is left to the host application to rerun", async () => {
      const { port, handle } = await hosted();
      await write(port, insertNote("a"));
      handle.exec("BEGIN");
      const group = joined(port, handle);
      await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
      await write(port, insertNote("b"));
      expect(() => group.commit([insertNote("c")])).toThrow(
        expect.objectContaining({ name: "StorageConflict", lastsForTransaction: true }),
      );
      handle.exec("ROLLBACK");
      expect(await notes(port)).toEqual(["a", "b"]);
    });
  },
);

it("a handle that was closed and opened again can be joined again", async () => {
  const { port, file } = await opened();
  const handle = new DatabaseSync(file);
  onTestFinished(() => handle.close());
  for (const id of ["a", "b"]) {
    handle.exec("BEGIN");
    await joined(port, handle).commit([insertNote(id)]);
    handle.exec("COMMIT");
    handle.close();
    handle.open();
  }
  expect(await notes(port)).toEqual(["a", "b"]);
});

describe("a handle that cannot be joined", () => {
  it("is refused with the reason: no handle, no transaction, another file", async () => {
    const { port, file } = await opened();
    expect(() => joined(port, {})).toThrow(/expected a DatabaseSync of node:sqlite, got an object/);
    expect(() => joined(port, undefined)).toThrow(/got undefined/);
    const handle = new DatabaseSync(file);
    const stranger = new DatabaseSync(await temporaryFile());
    onTestFinished(() => {
      handle.close();
      stranger.close();
    });
    expect(() => joined(port, handle)).toThrow(/open transaction.*BEGIN/);
    stranger.exec("BEGIN");
    expect(() => joined(port, stranger)).toThrow(/on the storage.s database file/);
    const inMemory = new DatabaseSync(":memory:");
    onTestFinished(() => inMemory.close());
    inMemory.exec("BEGIN");
    expect(() => joined(port, inMemory)).toThrow(/, got one on a database in memory$/);
    stranger.close();
    expect(() => joined(port, stranger)).toThrow(/open database handle, got a closed one/);
    stranger.open();
  });

  it("is refused if it is of another SQLite library, which does not see the engine's locks", async () => {
    const { port, file } = await opened();
    const own = new DatabaseSync(file);
    onTestFinished(() => own.close());
    own.exec("BEGIN");
    // The interface that such libraries share.
    class Database {
      readonly exec = (sql: string): void => own.exec(sql);
      readonly prepare = (sql: string): StatementSync => own.prepare(sql);
    }
    expect(() => joined(port, new Database())).toThrow(
      expect.objectContaining({
        code: "invalid_option",
        message:
          "tx: expected a DatabaseSync of node:sqlite, got a Database. Another SQLite library in " +
          "this process does not see the engine's locks, so commits would be lost.",
      }),
    );
  });
});

describe.each([
  ["path", "app.db"],
  ["URI", "file:app.db?cache=private"],
])("a relative %s", (_, file) => {
  it("means the same file after the process changes its directory", async () => {
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    // SQLite does not decode the percent sign of a path, but that of a URI.
    const home = join(await temporaryDirectory(), "100% ready?");
    await mkdir(home);
    process.chdir(home);
    const thresholds = { minWrites: 2, minGroups: 1 };
    const port = closing(new SqliteStorage({ file, migrate: true, thresholds }));
    const late = closing(sqlite({ file }));
    await port.open(firstSchema);
    process.chdir(await temporaryDirectory());
    const neighbor = closing(sqlite({ file }));
    await neighbor.open(firstSchema);

    await port.transaction((tx) => Promise.resolve(port.host(tx).commit([insertNote("tx")])));
    // The first large group starts the thread, which commits the next one.
    const started = once(process, "worker") as Promise<[Worker]>;
    await write(port, insertNote("a"), insertNote("b"));
    const [thread] = await started;
    await once(thread, "message");
    await write(port, insertNote("c"), insertNote("d"));
    await late.open(firstSchema);
    for (const storage of [port, late]) {
      expect(await notes(storage)).toEqual(["a", "b", "c", "d", "tx"]);
    }
    expect(await notes(neighbor)).toEqual([]);
    expect(existsSync(join(home, "app.db"))).toBe(true);
  });
});

describe("several processes on one SQLite file", () => {
  it("lose no update of a shared counter", async () => {
    const { port, file } = await opened();
    const peers = Array.from({ length: 3 }, () => new Peer("count", file, "150"));
    for (const peer of peers) expect(await peer.line()).toBe("ready");
    for (const peer of peers) peer.go();
    expect(await Promise.all(peers.map((peer) => peer.line()))).toEqual(["done", "done", "done"]);
    const [[shared] = []] = await port.reader.get([{ index: noteById, key: ["shared"], limit: 1 }]);
    expect(shared).toMatchObject({ count: 450 });
    expect(await notes(port)).toHaveLength(451);
  });

  it("are notified of others' commits, and not of their own", async () => {
    const { port, file } = await opened();
    const other = closing(sqlite({ file }));
    await other.open(firstSchema);
    let heard = 0;
    const waiting: (() => void)[] = [];
    const stop = port.watch?.(() => {
      heard++;
      waiting.shift()?.();
    });
    onTestFinished(() => stop?.());
    const next = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
    await write(port, insertNote("own"));
    const first = next();
    await write(other, insertNote("theirs"));
    await first;
    expect(heard).toBe(1);
    const handle = new DatabaseSync(file);
    const second = next();
    handle.exec("BEGIN");
    await joined(port, handle).commit([insertNote("host")]);
    handle.exec("COMMIT");
    handle.close();
    await second;
    expect(heard).toBe(2);
  });

  it("wait for the exclusive group of one engine while another engine of that process reads", async () => {
    const { port, file } = await opened();
    const other = closing(sqlite({ file }));
    await other.open(firstSchema);
    await write(port, insertNote("a"));
    const lookups = [{ index: noteById, key: ["a"], limit: 1 }];
    const exclusive = port.begin("exclusive");
    const [[seen = {}] = []] = await exclusive.read(lookups);
    const shared = port.begin();
    await shared.read(lookups);
    await shared.abort();
    const [late, first] = await Promise.allSettled([
      write(other, updateNote(seen, { text: "late" })),
      exclusive.commit([updateNote(seen, { text: "first" })]),
    ]);
    expect(first).toMatchObject({ status: "fulfilled" });
    expect(late).toMatchObject({ reason: expect.any(StorageConflict) as unknown });
  });

  it("wait for an exclusive group that had to wait for the file while another engine of its process read", async () => {
    const { port, file } = await opened();
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    const lookup = { index: noteById, key: ["a"], limit: 1 };
    const [exclusive, shared] = [port.begin("exclusive"), port.begin()];
    onTestFinished(async () => {
      await exclusive.abort();
      await shared.abort();
    });
    other.exec("BEGIN IMMEDIATE");
    const reading = exclusive.read([lookup]);
    // It has tried and failed once.
    await setImmediate();
    await shared.read([lookup]);
    other.exec("COMMIT");
    await reading;
    expect(() => other.exec("BEGIN IMMEDIATE")).toThrow("locked");
  });

  it("do not use a log's positions again after its last rows were deleted", async () => {
    const file = await temporaryFile();
    const { entries, entriesByPosition, entry, schema } = conformance;
    const port = closing(sqlite({ file }));
    await port.open(schema);
    const last = async (): Promise<number> => {
      const [row] = await port.reader.range({
        index: entriesByPosition,
        prefix: [],
        order: "descending",
        limit: 1,
      });
      return Number(row?.["position"] ?? 0);
    };
    const log = (id: string): Promise<void> =>
      write(port, { kind: "insert", collection: entries, row: { ...entry(id), version: 1 } });
    await log("a");
    await log("b");
    const before = await last();
    new DatabaseSync(file).exec("DELETE FROM tidings_conformance_entries");
    await log("c");
    expect(await last()).toBeGreaterThan(before);
  });
});

/** Calls `before` before each query but the first. */
class InterruptedConnection extends Connection {
  readonly #before: () => void;
  #queries = 0;

  constructor(handle: DatabaseSync, before: () => void) {
    super(handle);
    this.#before = before;
  }

  override query(sql: string): ArrayQuery {
    if (this.#queries++ > 0) this.#before();
    return super.query(sql);
  }
}

it("a range finds a row once that moves from null to a value while the range is read", async () => {
  const { item, items, itemsByRank, schema } = conformance;
  const file = await temporaryFile();
  const port = closing(sqlite({ file }));
  await port.open(schema);
  const row = { ...item("i", { owner: "anna", rank: null }), version: 1 };
  await write(port, { kind: "insert", collection: items, row });
  const [handle, other] = [new DatabaseSync(file), new DatabaseSync(file)];
  onTestFinished(() => {
    handle.close();
    other.close();
  });
  const connection = new InterruptedConnection(handle, () =>
    other.exec("UPDATE tidings_conformance_items SET rank = 1"),
  );
  const reads = new Reads(() => new Table(items));
  const range = { index: itemsByRank, prefix: ["anna"], order: "ascending", limit: 5 } as const;
  const found = reads.range(connection, { ...range, until: [9] });
  expect(found).toMatchObject([{ id: "i", rank: null }]);
  expect(reads.range(new Connection(handle), range)).toMatchObject([{ id: "i", rank: 1 }]);
});

describe("the plans of reads", () => {
  it("are scans along the named index in its order, without sorts and table scans", () => {
    const handle = new DatabaseSync(":memory:");
    onTestFinished(() => handle.close());
    handle.exec(sqlite({ file: "unused" }).migrationSql(conformance.schema));
    const prepare = vi.spyOn(handle, "prepare");
    const connection = new Connection(handle);
    const { collections } = conformance.schema;
    const tables = new Map(
      collections.map((collection) => [collection.name, new Table(collection)]),
    );
    const reads = new Reads(({ name }) => tables.get(name) ?? expect.fail(name));
    const indexes: readonly Index[] = collections.flatMap(({ primary, indexes: others }) => [
      primary,
      ...others,
    ]);
    for (const index of indexes) {
      const ordering = [...new Set([...index.columns, ...index.collection.primary.columns])];
      for (let length = 0; length <= index.columns.length; length++) {
        const prefix = Array<number>(length).fill(1);
        reads.get(connection, { index, key: prefix, limit: 5 });
        for (const order of ["ascending", "descending"] as const) {
          reads.range(connection, { index, prefix, order, limit: 5 });
          reads.range(connection, { index, prefix, order, skip: 3, limit: 5 });
          for (let bound = 1; bound <= ordering.length - length; bound++) {
            const tuple = Array<number>(bound).fill(1);
            reads.range(connection, { index, prefix, order, after: tuple, limit: 5 });
            reads.range(connection, { index, prefix, order, after: tuple, until: tuple, limit: 5 });
          }
        }
      }
    }
    const texts = new Set(prepare.mock.calls.map(([text]) => text));
    expect(texts.size).toBeGreaterThan(100);
    for (const text of texts) {
      const plan = handle
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => String(detail));
      expect(plan, text).toHaveLength(1);
      // Without a condition there is nothing to seek, and a scan from one end is right.
      const seeks = text.replace(/ORDER BY.*/, "").includes("?");
      expect(plan[0], text).toMatch(seeks ? /^SEARCH/ : /^(SCAN|SEARCH)/);
    }
  });
});
