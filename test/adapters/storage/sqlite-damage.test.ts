/** Files that are deleted, replaced or overwritten: the storage notices, and says so. */
import { execFileSync } from "node:child_process";
import { chmod, copyFile, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { MessagingEngine } from "../../../adapters/entry.ts";
import { Connection } from "../../../adapters/storage/sqlite/connections/connection.ts";
import { fileCheckMs } from "../../../adapters/storage/sqlite/damage/database-files.ts";
import { findDamage } from "../../../adapters/storage/sqlite/damage/find-damage.ts";
import { sqlite, type SqliteOptions } from "../../../adapters/storage/sqlite/index.ts";
import { SqliteStorage } from "../../../adapters/storage/sqlite/storage.ts";
import { sandbox } from "../../../adapters/transport/sandbox/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { closing, notes, says, temporaryFile, write } from "./sqlite-files.ts";
import { firstSchema, insertNote, noteById } from "./sqlite-schemas.ts";

/** Writes until the storage refuses. Returns the error and the ids that were acknowledged. */
async function writeUntilRefused(port: StoragePort, prefix: string) {
  const acknowledged: string[] = [];
  for (let n = 0; n < 10_000; n++) {
    try {
      await write(port, insertNote(`${prefix}${n}`));
      acknowledged.push(`${prefix}${n}`);
    } catch (error) {
      return { error, acknowledged };
    }
    // Lets the time pass that is between two checks.
    await port.yieldToEventLoop();
  }
  throw new Error("10,000 commits were accepted");
}

/** Returns the URL of a file of the project, for a program that imports it. */
const importable = (path: string): string => pathToFileURL(resolve(path)).href;

/** Reads the notes as a process does that starts after this one was killed. */
async function notesAfterKill(file: string): Promise<unknown[]> {
  const copy = join(dirname(file), "copy.db");
  await copyFile(file, copy);
  for (const suffix of ["-wal", "-shm"]) {
    await copyFile(file + suffix, copy + suffix).catch(() => {});
  }
  const handle = new DatabaseSync(copy);
  try {
    return handle
      .prepare("SELECT id FROM tidings_notes ORDER BY id")
      .all()
      .map(({ id }) => id);
  } finally {
    handle.close();
  }
}

describe("a file that is deleted or replaced while the database is open", () => {
  const faults: readonly (readonly [string, string, (file: string) => Promise<void>])[] = [
    ["a deleted log", "test.db-wal was deleted", (file) => rm(`${file}-wal`)],
    ["a renamed log", "test.db-wal was deleted", (file) => rename(`${file}-wal`, `${file}-old`)],
    ["a deleted index of the log", "test.db-shm was deleted", (file) => rm(`${file}-shm`)],
    ["a deleted database", "test.db was deleted", (file) => rm(file)],
    [
      "a replaced log",
      "test.db-wal was replaced",
      async (file) => {
        await copyFile(`${file}-wal`, `${file}-new`);
        await rename(`${file}-new`, `${file}-wal`);
      },
    ],
    [
      "a database that is replaced by a backup",
      "test.db was replaced",
      async (file) => {
        await copyFile(file, `${file}-new`);
        await rename(`${file}-new`, file);
      },
    ],
  ];

  it.each(faults)("%s refuses commands from then on", async (_, message, damage) => {
    const file = await temporaryFile();
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    await write(port, insertNote("before"));
    await damage(file);
    const refusal = {
      code: "storage_damaged",
      status: 503,
      retryable: false,
      message: says(new RegExp(message)),
      detail: expect.not.stringContaining(dirname(file)) as unknown,
    };
    expect((await writeUntilRefused(port, "n")).error).toMatchObject(refusal);
    await expect(write(port, insertNote("later"))).rejects.toMatchObject(refusal);
    await expect(port.transaction?.(async () => {})).rejects.toMatchObject(refusal);
    const handle = new DatabaseSync(file);
    onTestFinished(() => handle.close());
    expect(() => port.host?.(handle)).toThrow(new RegExp(message));
  });

  it("a deleted log loses no commit that was acknowledged, even if the process is killed then", async () => {
    const file = await temporaryFile();
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    const before = Array.from({ length: 50 }, (_, n) => `a${n}`);
    for (const id of before) await write(port, insertNote(id));
    await rm(`${file}-wal`);
    const { error, acknowledged } = await writeUntilRefused(port, "b");
    expect(error).toMatchObject({ message: says(/All commits were saved/) });
    expect(await notesAfterKill(file)).toEqual([...before, ...acknowledged].toSorted());
  });

  it("a deleted log loses no commit when a group notices it that has read, even an outdated state", async () => {
    const file = await temporaryFile();
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    await write(port, insertNote("before"));
    const other = closing(sqlite({ file }));
    await other.open(firstSchema);
    await setTimeout(2 * fileCheckMs);
    const group = port.begin();
    await group.read([{ index: noteById, key: ["n"], limit: 1 }]);
    await write(other, insertNote("meanwhile"));
    await rm(`${file}-wal`);
    expect(() => group.commit([insertNote("n")])).toThrow(/All commits were saved/);
    expect(await notesAfterKill(file)).toEqual(["before", "meanwhile"]);
  });

  describe.each([
    ["on the main thread", 1_000],
    ["in the background thread", 1],
  ])("a deleted log that is noticed while a commit %s waits", (_, minWrites) => {
    /** Commits `before`, then `late`, which waits until the damage was found. */
    async function commitLate(whileWaiting: (file: string) => void) {
      const file = await temporaryFile();
      const thresholds = { minWrites, minGroups: 0 };
      const port = closing(new SqliteStorage({ file, migrate: true, thresholds }));
      await port.open(firstSchema);
      await write(port, insertNote("before"));
      const other = new DatabaseSync(file);
      onTestFinished(() => other.close());
      other.exec("BEGIN IMMEDIATE");
      const late = Promise.resolve(port.begin().commit([insertNote("late")]));
      whileWaiting(file);
      await rm(`${file}-wal`);
      await new Promise<void>((resolve) => {
        onTestFinished(
          port.watch(
            () => {},
            () => resolve(),
          ),
        );
      });
      other.exec("ROLLBACK");
      return { file, late };
    }

    it("loses nothing when the commit is acknowledged", async () => {
      const { file, late } = await commitLate(() => {});
      await late;
      expect(await notesAfterKill(file)).toEqual(["before", "late"]);
    });

    it("refuses the commit when it cannot be saved", async () => {
      const { file, late } = await commitLate((path) => {
        // SQLite does not overwrite what a reader still reads.
        const reader = new DatabaseSync(path);
        onTestFinished(() => reader.close());
        reader.exec("BEGIN; SELECT * FROM tidings_notes");
      });
      await expect(late).rejects.toMatchObject({
        code: "storage_damaged",
        message: says(/Recent commits may be lost/),
      });
      expect(await notesAfterKill(file)).toEqual(["before"]);
    });
  });

  it("an idle engine notices it, and logs one error", async () => {
    const file = await temporaryFile();
    const errors: { facts: object; message: string }[] = [];
    const ignore = (): void => {};
    let notice = ignore;
    const noticed = new Promise<void>((resolve) => (notice = resolve));
    const engine = new MessagingEngine({
      storage: sqlite({ file }),
      transports: [sandbox()],
      logger: {
        debug: ignore,
        info: ignore,
        warn: ignore,
        error(facts, message) {
          errors.push({ facts, message });
          notice();
        },
      },
    });
    onTestFinished(() => engine.stop());
    const message = { to: "+15005550001", body: "Hi" };
    await engine.messages.send(message);
    await rm(`${file}-wal`);
    await noticed;
    for (let n = 0; n < 3; n++) {
      await expect(engine.messages.send(message)).rejects.toMatchObject({
        code: "storage_damaged",
      });
    }
    expect(errors).toMatchObject([
      { facts: { err: { code: "storage_damaged" } }, message: "the storage is damaged" },
    ]);
  });

  it("checkpoints, other connections and other processes are not damage", async () => {
    const file = await temporaryFile();
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    const damages: unknown[] = [];
    const unwatch = port.watch?.(
      () => {},
      (error) => damages.push(error),
    );
    for (let round = 0; round < 5; round++) {
      await write(port, insertNote(`n${round}`));
      const other = new DatabaseSync(file);
      other.exec(
        `UPDATE tidings_notes SET count = ${round}; PRAGMA wal_checkpoint(TRUNCATE); VACUUM`,
      );
      other.close();
      const script = `new (require("node:sqlite").DatabaseSync)(${JSON.stringify(file)}).exec("DELETE FROM tidings_notes WHERE id = 'x'")`;
      execFileSync(process.execPath, ["-e", script], { stdio: "ignore" });
      const checked = performance.now() + 60;
      while (performance.now() < checked) await port.yieldToEventLoop();
    }
    unwatch?.();
    await write(port, insertNote("last"));
    expect(damages).toEqual([]);
    expect(await notes(port)).toHaveLength(6);
  });

  it("a process that gives up its access to the directory keeps working", async () => {
    const file = await temporaryFile();
    const folder = dirname(file);
    // Only a process of its own can change its user.
    const script = `
      import { chmodSync } from "node:fs";
      import { MessagingEngine } from "${importable("adapters/entry.ts")}";
      import { sqlite } from "${importable("adapters/storage/sqlite/index.ts")}";
      import { sandbox } from "${importable("adapters/transport/sandbox/index.ts")}";
      const storage = sqlite({ file: ${JSON.stringify(file)} });
      const engine = new MessagingEngine({ storage, transports: [sandbox()] });
      const send = () => engine.messages.send({ to: "+15005550001", body: "Hi" });
      await send();
      chmodSync(${JSON.stringify(folder)}, 0o000);
      if (process.getuid?.() === 0) process.seteuid(65534);
      const until = performance.now() + 200;
      let count = 0;
      while (performance.now() < until) {
        await send();
        count++;
      }
      console.log(count > 0 ? "sent" : "too slow");
      process.exit();
    `;
    const args = ["--input-type=module", "-e", script];
    try {
      expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("sent\n");
    } finally {
      await chmod(folder, 0o700);
    }
  });
});

const pageSize = 4_096;

describe("damage in the middle of the file", () => {
  /** Creates a database with `count` notes, without a log. Returns its number of pages. */
  async function filled(file: string, count: number): Promise<number> {
    const port = sqlite({ file });
    await port.open(firstSchema);
    await write(
      port,
      ...Array.from({ length: count }, (_, n) => insertNote(`n${n}`, "x".repeat(500))),
    );
    await port.close();
    return (await stat(file)).size / pageSize;
  }

  async function overwrite(file: string, at: number, bytes: Buffer): Promise<void> {
    const handle = await open(file, "r+");
    await handle.write(bytes, 0, bytes.length, at);
    await handle.close();
  }

  const refusal = (file: string): object => ({
    code: "storage_damaged",
    retryable: false,
    message: says(new RegExp(`${file} is damaged .*Restore it from a backup`)),
    detail: says(/^The database file is damaged\. Restore it from a backup/),
  });

  it.each(["quick", "full"] as const)("is found on opening by a %s check", async (check) => {
    const file = await temporaryFile();
    const pages = await filled(file, 2_000);
    const intact = sqlite({ file, check });
    await intact.open(firstSchema);
    expect(await notes(intact)).toHaveLength(2_000);
    await intact.close();
    for (const [bytes, at] of [
      [Buffer.alloc(pageSize, 0xa5), Math.floor(pages / 2) * pageSize],
      [Buffer.alloc(pageSize), Math.floor(pages / 2) * pageSize],
      [Buffer.alloc(pageSize, 0xff), Math.floor(pages / 2) * pageSize + 1_000],
    ] as const) {
      const copy = `${file}-copy`;
      await copyFile(file, copy);
      await overwrite(copy, at, bytes);
      await expect(sqlite({ file: copy, check }).open(firstSchema)).rejects.toMatchObject(
        refusal(copy),
      );
    }
  });

  it.each(["quick", "full"] as const)(
    "is not reported by a %s check for constraints and functions of the host application",
    async (check) => {
      const file = await temporaryFile();
      const handle = new DatabaseSync(file);
      handle.function("is_valid", { deterministic: true, varargs: true }, () => 1);
      handle.exec(`
        PRAGMA ignore_check_constraints = ON;
        CREATE TABLE orders (number INTEGER CHECK (number > 0));
        INSERT INTO orders VALUES (-1);
        CREATE TABLE customers (name TEXT CHECK (is_valid(name)));
        CREATE INDEX valid_customers ON customers (is_valid(name));
        INSERT INTO customers VALUES ('Kim');
      `);
      handle.close();
      const port = closing(sqlite({ file, check }));
      await port.open(firstSchema);
      await write(port, insertNote("first"));
      expect(await notes(port)).toHaveLength(1);
    },
  );

  it("is found in the first rows of a table of a large database", async () => {
    const file = await temporaryFile();
    await filled(file, 2_000);
    const check = (): string => {
      const handle = new DatabaseSync(file);
      try {
        return findDamage(new Connection(handle), "quick", 0);
      } finally {
        handle.close();
      }
    };
    expect(check()).toBe("");
    const handle = new DatabaseSync(file);
    const root = handle.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
    const page = Number(root.get("tidings_notes")?.["rootpage"]);
    handle.close();
    await overwrite(file, (page - 1) * pageSize, Buffer.alloc(pageSize, 0xa5));
    expect(check).toThrow(/malformed/);
  });

  it("within a row is found by a full check only", async () => {
    const file = await temporaryFile();
    await filled(file, 10);
    const handle = new DatabaseSync(file);
    handle.exec("UPDATE tidings_notes SET text = 'needle 1' WHERE id = 'n1'; VACUUM");
    handle.close();
    // The text of the row in its table, which then differs from that in the index.
    const at = (await readFile(file)).indexOf("needle 1");
    await overwrite(file, at, Buffer.from("needle 2"));
    const quick = closing(sqlite({ file }));
    await quick.open(firstSchema);
    await quick.close();
    await expect(sqlite({ file, check: "full" }).open(firstSchema)).rejects.toMatchObject(
      refusal(file),
    );
  });

  it("is reported as damage, not as a failure to retry, when a command meets it", async () => {
    const file = await temporaryFile();
    const pages = await filled(file, 2_000);
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    await overwrite(file, Math.floor(pages / 2) * pageSize, Buffer.alloc(pageSize, 0xa5));
    await expect(notes(port)).rejects.toMatchObject({
      code: "storage_damaged",
      retryable: false,
      message: says(new RegExp(`${file} is damaged`)),
      detail: "The database file is damaged: SQLite cannot read a page.",
    });
  });

  it("an unknown check is refused", () => {
    const options = JSON.parse('{"file": "x", "check": "deep"}') as SqliteOptions;
    expect(() => sqlite(options)).toThrow(/check: expected "quick" or "full"/);
  });
});
