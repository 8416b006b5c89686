import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { SqliteStorage } from "../../../../adapters/storage/sqlite/storage.ts";
import * as conformance from "../../../../adapters/testing/conformance/storage/collections.ts";
import { StorageConflict } from "../../../../src/ports/storage.ts";
import { isLong } from "../../../support/runs.ts";
import { firstSchema, insertNote, noteById, notes, updateNote } from "../notes.ts";
import { closing, write } from "../port.ts";
import { Peer, temporaryDirectory, temporaryFile } from "./files.ts";
import { joined, opened } from "./opened.ts";

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
    const count = isLong ? 3 : 2;
    const peers = Array.from({ length: count }, () => new Peer("count", file, "150"));
    for (const peer of peers) expect(await peer.line()).toBe("ready");
    for (const peer of peers) peer.go();
    expect(await Promise.all(peers.map((peer) => peer.line()))).toEqual(peers.map(() => "done"));
    const [[shared] = []] = await port.reader.get([{ index: noteById, key: ["shared"], limit: 1 }]);
    expect(shared).toMatchObject({ count: 150 * count });
    expect(await notes(port)).toHaveLength(150 * count + 1);
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

  it("wait for an exclusive group that began while another engine of its process waited to commit", async () => {
    const { port, file } = await opened();
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    const [exclusive, shared] = [port.begin("exclusive"), port.begin()];
    onTestFinished(() => exclusive.abort());
    other.exec("BEGIN IMMEDIATE");
    // It has tried and failed once.
    const committing = shared.commit([insertNote("a")]);
    other.exec("COMMIT");
    await exclusive.read([{ index: noteById, key: ["a"], limit: 1 }]);
    await committing;
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
