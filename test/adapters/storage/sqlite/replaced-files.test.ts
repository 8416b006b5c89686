/** Files that are deleted or replaced: the storage notices, and says so. */
import { execFileSync } from "node:child_process";
import { chmod, copyFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { MessagingEngine } from "../../../../adapters/entry.ts";
import { fileCheckMs } from "../../../../adapters/storage/sqlite/damage/database-files.ts";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { SqliteStorage } from "../../../../adapters/storage/sqlite/storage.ts";
import { sandbox } from "../../../../adapters/transport/sandbox/index.ts";
import type { StoragePort } from "../../../../src/ports/storage.ts";
import { longTest } from "../../../support/runs.ts";
import { firstSchema, insertNote, noteById, notes } from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { temporaryFile } from "./files.ts";
import { opened } from "./opened.ts";

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
    ["a deleted log", "test.db-wal was deleted or moved", (file) => rm(`${file}-wal`)],
    [
      "a renamed log",
      "test.db-wal was deleted or moved",
      (file) => rename(`${file}-wal`, `${file}-old`),
    ],
    ["a deleted index of the log", "test.db-shm was deleted or moved", (file) => rm(`${file}-shm`)],
    ["a deleted database", "test.db was deleted or moved", (file) => rm(file)],
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
    const { port, file } = await opened();
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
    const { port, file } = await opened();
    const before = Array.from({ length: 50 }, (_, n) => `a${n}`);
    for (const id of before) await write(port, insertNote(id));
    await rm(`${file}-wal`);
    const { error, acknowledged } = await writeUntilRefused(port, "b");
    expect(error).toMatchObject({ message: says(/All commits were saved/) });
    expect(await notesAfterKill(file)).toEqual([...before, ...acknowledged].toSorted());
  });

  it("a deleted log loses no commit when a group notices it that has read, even an outdated state", async () => {
    const { port, file } = await opened();
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
    const { port, file } = await opened();
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

  longTest("a process that gives up its access to the directory keeps working", async () => {
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
