import { execFileSync } from "node:child_process";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { TidingsError } from "../../../../src/kernel/errors.ts";
import { problem } from "../../../../src/kernel/problem.ts";
import { StorageRefusal } from "../../../../src/ports/storage.ts";
import { longTest } from "../../../support/runs.ts";
import { firstSchema, insertNote, noteById, notes, updateNote } from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { temporaryDirectory, temporaryFile } from "./files.ts";
import { opened } from "./opened.ts";

const importable = (path: string): string => pathToFileURL(resolve(path)).href;

/**
 * Mounts a file system of the given size in KiB, which needs root on Linux. Undefined elsewhere.
 */
async function smallDisk(kib: number): Promise<string | undefined> {
  const directory = join(await temporaryDirectory(), "disk");
  await mkdir(directory);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", directory], {
      stdio: "ignore",
    });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", directory]));
  return directory;
}

describe("when the SQLite file cannot be used", () => {
  it("a full disk refuses commits with the reason, loses nothing, and works again once there is space", async (context) => {
    const disk = await smallDisk(1_024);
    if (disk === undefined) {
      return context.skip("a small file system can't be mounted here (not root, or not Linux)");
    }
    const port = closing(sqlite({ file: join(disk, "test.db") }));
    await port.open(firstSchema);
    await write(port, insertNote("before"));
    await writeFile(join(disk, "ballast"), Buffer.alloc(4_000_000)).catch(() => {});

    const big = Array.from({ length: 50 }, (_, i) => insertNote(`big${i}`, "x".repeat(20_000)));
    const error: unknown = await write(port, ...big).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TidingsError);
    expect(error).toMatchObject({
      code: "storage_unavailable",
      retryable: true,
      message: says(/full/),
      cause: { errcode: 13 },
    });
    expect(await notes(port)).toEqual(["before"]);

    await rm(join(disk, "ballast"));
    await write(port, insertNote("after"));
    expect(await notes(port)).toEqual(["after", "before"]);
  });

  it("a disk that is too full to open a database is a failure to retry, wherever it happens", async (context) => {
    const disk = await smallDisk(256);
    if (disk === undefined) {
      return context.skip("a small file system can't be mounted here (not root, or not Linux)");
    }
    const ballast = join(disk, "ballast");
    const errors: unknown[] = [];
    for (let freeKib = 0; freeKib < 128; freeKib += 4) {
      await writeFile(ballast, Buffer.alloc((256 - freeKib) * 1_024));
      const file = join(disk, "test.db");
      const port = sqlite({ file });
      await port.open(firstSchema).catch((error: unknown) => errors.push(error));
      await port.close();
      for (const end of ["", "-wal", "-shm"]) await rm(file + end, { force: true });
    }
    for (const error of errors) {
      expect(error).toMatchObject({ code: "storage_unavailable", retryable: true });
    }
    expect(errors.length).toBeGreaterThan(5);
  });

  it("a file cannot be opened for a while if no file descriptor is left", async () => {
    const file = await temporaryFile();
    // Only a process of its own can use all of its file descriptors.
    const script = `
      import { closeSync, openSync } from "node:fs";
      import { connect } from "${importable("adapters/storage/sqlite/connections/connect.ts")}";
      const file = ${JSON.stringify(file)};
      (await connect(file)).close();
      const taken = [];
      try {
        for (;;) taken.push(openSync("/dev/null"));
      } catch {}
      const error = await connect(file).catch((thrown) => thrown);
      for (const each of taken) closeSync(each);
      (await connect(file)).close();
      console.log(error.code, error.retryable, error.detail);
    `;
    const args = ["-c", 'ulimit -n 200; exec "$0" --input-type=module -e "$1"'];
    expect(
      execFileSync("/bin/sh", [...args, process.execPath, script], { encoding: "utf8" }),
    ).toMatch(/^storage_unavailable true .* no file descriptor left\.\n$/);
  });

  it("a database at its maximum size refuses a command in a host transaction, and accepts it once it may grow", async () => {
    const { port, file } = await opened();
    const handle = new DatabaseSync(file);
    onTestFinished(() => handle.close());
    const pages = handle.prepare("PRAGMA page_count").get()?.["page_count"];
    handle.exec(`PRAGMA max_page_count = ${Number(pages) + 2}; BEGIN IMMEDIATE`);
    const big = insertNote("big", "x".repeat(100_000));
    expect(() => port.host?.(handle).commit([insertNote("small"), big])).toThrow(
      new RegExp(`full.* The file is ${file}\\.`),
    );
    if (handle.isTransaction) handle.exec("COMMIT");
    expect(await notes(port)).toEqual([]);
    handle.exec(`PRAGMA max_page_count = ${Number(pages) + 100}; BEGIN IMMEDIATE`);
    await port.host?.(handle).commit([insertNote("small"), big]);
    handle.exec("COMMIT");
    expect(await notes(port)).toEqual(["big", "small"]);
  });

  it("a database that cannot be written is refused with the reason", async () => {
    const { port: before, file } = await opened();
    // Root may write any file, so SQLite is told to open this one read-only.
    const readOnly = { code: "storage_unavailable", retryable: true, message: says(/read-only/) };
    await expect(sqlite({ file: `file:${file}?mode=ro` }).open(firstSchema)).rejects.toMatchObject(
      readOnly,
    );
    const empty = await temporaryFile();
    new DatabaseSync(empty).exec("PRAGMA journal_mode = WAL");
    await expect(sqlite({ file: `file:${empty}?mode=ro` }).open(firstSchema)).rejects.toMatchObject(
      readOnly,
    );
    await write(before, insertNote("a"));
    expect(await notes(before)).toEqual(["a"]);
  });

  it("a database can be used once its file system is no longer read-only", async (context) => {
    const disk = await smallDisk(4_096);
    if (disk === undefined) {
      return context.skip("a small file system can't be mounted here (not root, or not Linux)");
    }
    const crashed = await temporaryFile();
    const before = closing(sqlite({ file: crashed }));
    await before.open(firstSchema);
    await write(before, insertNote("before"));
    const file = join(disk, "test.db");
    for (const end of ["", "-wal", "-shm"]) await copyFile(crashed + end, file + end);
    const remount = (how: "ro" | "rw"): void =>
      void execFileSync("mount", ["-o", `remount,${how}`, disk]);
    remount("ro");
    const port = closing(sqlite({ file }));
    await expect(port.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: says(/read-only/),
    });
    remount("rw");
    await port.open(firstSchema);
    await write(port, insertNote("after"));
    expect(await notes(port)).toEqual(["after", "before"]);
  });

  it("a file that is not a database, a damaged one and a missing directory have different errors", async () => {
    const file = await temporaryFile();
    await writeFile(
      file,
      "This is a letter to my grandmother, and not a database at all.\n".repeat(100),
    );
    const port = closing(sqlite({ file }));
    await expect(port.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: `The file is not a SQLite database. The file is ${file}.`,
      cause: { errcode: 26 },
    });
    await rm(file);
    await port.open(firstSchema);

    const nowhere = sqlite({ file: join(await temporaryDirectory(), "missing", "test.db") });
    await expect(nowhere.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: says(/cannot be opened: its directory does not exist\. Create it first\./),
    });
    const folder = sqlite({ file: await temporaryDirectory() });
    await expect(folder.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: says(/cannot be opened: its path is that of a directory\./),
    });
    const long = sqlite({ file: join(await temporaryDirectory(), `${"long".repeat(100)}.db`) });
    await expect(long.open(firstSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: says(/cannot be opened/),
    });
    expect(() => nowhere.begin()).toThrow(/not open/);
    await expect(nowhere.reader.get([])).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("a commit waits for another connection's transaction without blocking the process", async () => {
    const { port, file } = await opened();
    await write(port, insertNote("a"));
    const other = new DatabaseSync(file);
    onTestFinished(() => other.close());

    const group = port.begin();
    const [[row = {}] = []] = await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
    other.exec("BEGIN IMMEDIATE; INSERT INTO tidings_notes VALUES ('theirs', '', 0, 1)");
    let committed = false;
    const commit = Promise.resolve(group.commit([updateNote(row, { count: 1 })])).then(
      () => (committed = true),
    );
    for (let i = 0; i < 20; i++) await port.yieldToEventLoop();
    expect(committed).toBe(false);
    expect(await notes(port)).toEqual(["a"]);
    other.exec("COMMIT");
    await commit;
    const [rows] = await port.reader.get([{ index: noteById, key: ["a"], limit: 1 }]);
    expect(rows).toEqual([{ id: "a", text: "text", count: 1, version: 2 }]);
    expect(await notes(port)).toEqual(["a", "theirs"]);
  });

  longTest(
    "a database that stays locked is unavailable after some seconds, and works again once it is free",
    async () => {
      const { port, file } = await opened();
      const other = new DatabaseSync(file);
      onTestFinished(() => other.close());
      other.exec("BEGIN IMMEDIATE");
      const error: unknown = await write(port, insertNote("a")).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "storage_unavailable",
        retryable: true,
        message: says(new RegExp(`locked.* The file is ${file}\\.`)),
        cause: { errcode: 5 },
      });
      // Callers over HTTP do not learn where the database is.
      const body = JSON.stringify(problem(error as TidingsError, "req_01JZ0000000000000000000000"));
      expect([body.includes("locked"), body.includes(file)]).toEqual([true, false]);
      other.exec("ROLLBACK");
      await write(port, insertNote("a"));
      expect(await notes(port)).toEqual(["a"]);
    },
  );

  it("a write that violates a rule of the host application fails permanently, and is not retried", async () => {
    const { port, file } = await opened();
    const other = new DatabaseSync(file);
    const rule =
      "BEFORE INSERT ON tidings_notes WHEN new.text = 'no' BEGIN SELECT RAISE(ABORT, 'no'); END";
    other.exec(`CREATE TRIGGER host ${rule}`);
    other.close();
    await expect(write(port, insertNote("a"), insertNote("b", "no"))).rejects.toThrow(
      StorageRefusal,
    );
    expect(await notes(port)).toEqual([]);
  });

  it.each(["shared", "exclusive"] as const)(
    "a refused commit of a group with %s access ends its transaction: others can commit, and are noticed",
    async (access) => {
      const { port, file } = await opened();
      const group = port.begin(access);
      await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
      const commit = async (): Promise<void> => group.commit([insertNote("a", "\ud800")]);
      await expect(commit()).rejects.toThrow(StorageRefusal);
      await group.abort();
      let noticed = false;
      const stop = port.watch?.(() => (noticed = true));
      onTestFinished(() => stop?.());
      const other = new DatabaseSync(file);
      onTestFinished(() => other.close());
      other.exec("INSERT INTO tidings_notes VALUES ('theirs', '', 0, 1)");
      await expect.poll(() => noticed).toBe(true);
    },
  );
});

describe("a SQLite file that can never be opened", () => {
  it("is reported with its path, as an error that a retry does not solve", async () => {
    const damaged = await temporaryFile();
    await writeFile(damaged, "This is a text and no database. ".repeat(200));
    for (const file of [damaged, "/no/such/directory/app.db"]) {
      await expect(sqlite({ file }).open(firstSchema)).rejects.toMatchObject({
        code: "storage_unavailable",
        retryable: false,
        message: expect.stringContaining(`The file is ${file}.`),
      });
    }
  });
});
