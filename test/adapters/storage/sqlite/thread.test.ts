import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { SqliteStorage } from "../../../../adapters/storage/sqlite/storage.ts";
import { BackgroundWriter } from "../../../../adapters/storage/sqlite/thread/background-writer.ts";
import { storageConformance } from "../../../../adapters/testing/conformance/storage/index.ts";
import { StorageConflict } from "../../../../src/ports/storage.ts";
import { isLong, longTest } from "../../../support/runs.ts";
import { firstSchema, insertNote, noteById, notes, updateNote } from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { temporaryDirectory, temporaryFile } from "./files.ts";

/** The thread makes every commit, however small. */
const always = { minWrites: 1, minGroups: 0 } as const;
const threaded = (file: string): SqliteStorage =>
  new SqliteStorage({ file, migrate: true, thresholds: always });

/**
 * These groups are about reads, schemas and locks, which stay on the main thread. Each test of the
 * others starts one thread or several.
 */
const ofMainThread = new Set(["ranges", "search", "upgrades", "sharing"]);
const runner = {
  describe(title: string, define: () => void): void {
    if (!isLong && ofMainThread.has(title)) return;
    // oxlint-disable-next-line vitest/valid-title -- the suite gives it
    describe(title, () => {
      define();
    });
  },
  it,
};

storageConformance(runner, "sqlite that commits in a thread", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tidings-"));
  return {
    connect: () => threaded(join(directory, "test.db")),
    remove: () => rm(directory, { recursive: true }),
  };
});

/** Runs a program with a storage whose first commit starts the thread. Returns its output. */
async function runProgram(use: string, ...options: readonly string[]): Promise<string> {
  const storage = import.meta.resolve("../../../../adapters/storage/sqlite/storage.ts");
  const schemas = import.meta.resolve("../notes.ts");
  const script = `
    import { SqliteStorage } from "${storage}";
    import { firstSchema, insertNote } from "${schemas}";
    const thresholds = { minWrites: 1, minGroups: 1 };
    const port = new SqliteStorage({ file: process.argv[2], migrate: true, thresholds });
    await port.open(firstSchema);
    ${use}
  `;
  const program = join(await temporaryDirectory(), "program.mjs");
  await writeFile(program, script);
  const args = [...options, program, await temporaryFile()];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 30_000 });
  return stdout;
}

/** Records the threads that are started during the test. */
function threads(): Worker[] {
  const started: Worker[] = [];
  const note = (worker: Worker): void => void started.push(worker);
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return started;
}

describe("commits in the background thread", () => {
  it("do not block the event loop", async () => {
    const file = await temporaryFile();
    const port = closing(threaded(file));
    await port.open(firstSchema);
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    let committed = false;
    const commit = write(port, insertNote("a")).then(() => (committed = true));
    for (let i = 0; i < 20; i++) await port.yieldToEventLoop();
    expect(committed).toBe(false);
    other.exec("COMMIT");
    await commit;
    expect(await notes(port)).toEqual(["a"]);
  });

  it("have each their own outcome, when several engines on one storage object commit at once", async () => {
    const port = closing(threaded(await temporaryFile()));
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const outcomes = await Promise.allSettled(
      ["b", "a", "c"].map((id) => write(port, insertNote(id))),
    );
    expect(outcomes).toEqual([
      { status: "fulfilled", value: undefined },
      { status: "rejected", reason: expect.any(StorageConflict) as unknown },
      { status: "fulfilled", value: undefined },
    ]);
    expect(await notes(port)).toEqual(["a", "b", "c"]);
  });

  it("leave the process free to end while none is in progress, though the storage stays open", async () => {
    await runProgram(`await port.begin().commit([insertNote("a")]);`);
  });

  longTest(
    "end with the storage, even if a module that is preloaded in each thread goes on",
    async () => {
      const preloaded = join(await temporaryDirectory(), "preloaded.mjs");
      await writeFile(preloaded, "setInterval(() => {}, 1_000);");
      const use = `
      await port.begin().commit([insertNote("a")]);
      await port.close();
      console.log("closed");
      process.exit();
    `;
      expect(await runProgram(use, "--import", pathToFileURL(preloaded).href)).toBe("closed\n");
    },
  );

  it("report an unknown outcome when the thread ends unexpectedly, and continue in a new one", async () => {
    const started = threads();
    const file = await temporaryFile();
    const port = closing(threaded(file));
    await port.open(firstSchema);
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());
    other.exec("BEGIN IMMEDIATE");
    const cut = write(port, insertNote("cut")).catch((error: unknown) => error);
    // The thread ends once it no longer waits for the lock.
    const ended = started[0]?.terminate();
    other.exec("COMMIT");
    await ended;
    expect(await cut).toMatchObject({
      code: "storage_unavailable",
      message: says(/may or may not have happened/),
    });
    await write(port, insertNote("after"));
    await port.yieldToEventLoop();
    const thread = started[1] ?? expect.fail("no new thread");
    const responses: unknown[] = [];
    thread.on("message", (response) => void responses.push(response));
    let count = 0;
    const commit = async (): Promise<unknown> => {
      await write(port, insertNote(`later${count++}`));
      return responses;
    };
    await expect.poll(commit).toContain("committed");
    const found = await notes(port);
    expect(found).toContain("after");
    expect(found).toEqual(
      expect.arrayContaining(Array.from({ length: count }, (_, i) => `later${i}`)),
    );
  });

  it("begin again more rarely, the more often the thread has ended", async () => {
    const started = threads();
    const port = closing(
      new SqliteStorage({
        file: await temporaryFile(),
        migrate: true,
        thresholds: { minWrites: 1, minGroups: 2 },
      }),
    );
    await port.open(firstSchema);
    const groupsToStart: number[] = [];
    let groups = 0;
    for (let starts = 1; starts <= 4; starts++) {
      for (groups = 0; started.length < starts && groups < 100; groups++) {
        await write(port, insertNote(`${starts}-${groups}`));
        await port.yieldToEventLoop();
      }
      groupsToStart.push(groups);
      await started.at(-1)?.terminate();
    }
    expect(groupsToStart).toEqual([2, 4, 8, 16]);
    expect(await notes(port)).toHaveLength(30);
  });

  it("happen on the main thread when the thread cannot open the file", async () => {
    const writer = new BackgroundWriter(join(await temporaryDirectory(), "none", "a.db"), always);
    await writer.start();
    expect(writer.threadFor(1, false)).toBeUndefined();
    await writer.close();
  });

  it("report conflicts and full databases as without the thread", async () => {
    const file = await temporaryFile();
    const port = closing(threaded(file));
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    await expect(write(port, insertNote("a"))).rejects.toBeInstanceOf(StorageConflict);
    const [[row = {}] = []] = await port.reader.get([{ index: noteById, key: ["a"], limit: 1 }]);
    await write(port, updateNote(row, { count: 1 }));
    await expect(
      write(port, insertNote("b"), updateNote(row, { count: 2 })),
    ).rejects.toBeInstanceOf(StorageConflict);
    expect(await notes(port)).toEqual(["a"]);
  });

  it("begin once several large groups have come, and not before", async () => {
    const started = threads();
    const port = closing(
      new SqliteStorage({
        file: await temporaryFile(),
        migrate: true,
        thresholds: { minWrites: 3, minGroups: 2 },
      }),
    );
    await port.open(firstSchema);
    const group = (name: string): ReturnType<typeof insertNote>[] =>
      [1, 2, 3].map((i) => insertNote(`${name}${i}`));
    for (let i = 0; i < 5; i++) await write(port, insertNote(`small${i}`));
    await write(port, ...group("first"));
    expect(started).toHaveLength(0);
    await write(port, ...group("second"));
    await port.yieldToEventLoop();
    expect(started).toHaveLength(1);
    // Groups are committed before the thread has started, and after.
    for (let i = 0; i < 50; i++) await write(port, ...group(`group${i}-`));
    expect(await notes(port)).toHaveLength(5 + 3 * 52);
  });
});

describe("groups and host transactions on one SQLite file", () => {
  it("exclusive groups and transactions wait for each other", async () => {
    const port = closing(new SqliteStorage({ file: await temporaryFile(), migrate: true }));
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const group = port.begin("exclusive");
    const [[row = {}] = []] = await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
    const order: string[] = [];
    const transaction = port.transaction(async () => void order.push("transaction"));
    await port.yieldToEventLoop();
    await group.commit([updateNote(row, { count: 1 })]);
    order.unshift("group");
    await transaction;
    expect(order).toEqual(["group", "transaction"]);
  });

  it("a group's reads see everything that was committed before it began, even while an earlier group is open", async () => {
    const port = closing(threaded(await temporaryFile()));
    await port.open(firstSchema);
    const first = port.begin();
    const landing = first.commit([insertNote("first")]);
    const ahead = port.begin();
    await ahead.read([{ index: noteById, key: ["first"], limit: 1 }]);
    await landing;
    const last = port.begin();
    expect(await last.read([{ index: noteById, key: ["first"], limit: 1 }])).toMatchObject([
      [{ id: "first" }],
    ]);
    await last.abort();
    await ahead.abort();
  });

  it("a storage that is opened during its last engine's close is open", async () => {
    const port = closing(threaded(await temporaryFile()));
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const closed = port.close();
    await port.yieldToEventLoop();
    await port.open(firstSchema);
    await closed;
    expect(await notes(port)).toEqual(["a"]);
  });
});
