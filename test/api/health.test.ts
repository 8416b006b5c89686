/**
 * `GET /v1/health` says whether commands can be committed, and `/v1/health/live` whether it
 * responds.
 */
import { execFileSync } from "node:child_process";
import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { temporaryDirectory, temporaryFile } from "../adapters/storage/sqlite/files.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { makeDatabase } from "../support/postgres/temporary-database.ts";
import { migrated, serverUrl } from "../support/postgres/test-database.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";

const ready = { status: "ok", reasons: [] };

async function get(
  engine: MessagingEngine,
  path: string,
): Promise<[status: number, body: unknown]> {
  const response = await fetchHandler(engine)(new Request(`http://localhost${path}`));
  return [response.status, await response.json()];
}

/** Expects the engine to be alive and not ready, for this reason. */
async function expectUnavailable(
  engine: MessagingEngine,
  code: string,
  message: RegExp,
): Promise<void> {
  const health = {
    status: "unavailable",
    reasons: [{ code, message: expect.stringMatching(message) as string }],
  };
  expect(await get(engine, "/v1/health")).toEqual([503, health]);
  expect(await engine.health()).toEqual(health);
  expect(await get(engine, "/v1/health/live")).toEqual([200, { status: "ok" }]);
}

const text = { to: "+15005550101", body: "Hi" };

describe("the health of an engine", () => {
  it.each(storages)("is ok while commands can be committed, on $name", async ({ open }) => {
    const { clock, engine } = world();
    const one = engine(open().connect());
    expect(await get(one, "/v1/health")).toEqual([200, ready]);
    await one.start();
    await one.messages.send(text);
    await clock.advance(5_000);
    expect(await get(one, "/v1/health")).toEqual([200, ready]);
    expect(await get(one, "/v1/health/live")).toEqual([200, { status: "ok" }]);
    expect(await one.health()).toEqual(ready);
  });

  it("is unavailable while the disk is full, and ok once there is space", async (context) => {
    const disk = join(await temporaryDirectory(), "disk");
    await mkdir(disk);
    try {
      const mount = ["-t", "tmpfs", "-o", "size=4096k", "tmpfs", disk];
      execFileSync("mount", mount, { stdio: "ignore" });
    } catch {
      return context.skip("a small file system can't be mounted here (not root, or not Linux)");
    }
    onTestFinished(() => void execFileSync("umount", ["-l", disk]));
    const { clock, engine } = world();
    const one = engine(sqlite({ file: join(disk, "test.db") }));
    await one.messages.send(text);
    await writeFile(join(disk, "ballast"), Buffer.alloc(8_000_000)).catch(() => {});
    await clock.advance(1_000);
    await expectUnavailable(one, "storage_unavailable", /disk is full/);
    await rm(join(disk, "ballast"));
    await clock.advance(1_000);
    expect(await get(one, "/v1/health")).toEqual([200, ready]);
  });

  it("is unavailable while the database is read-only", async () => {
    const file = await temporaryFile();
    const { clock, engine } = world();
    const writer = engine(sqlite({ file }));
    await writer.messages.send(text);
    // Root may write any file, so SQLite is told to open this one read-only.
    const one = engine(sqlite({ file: `file:${file}?mode=ro` }));
    await expectUnavailable(one, "storage_unavailable", /read-only/);
    await clock.advance(1_000);
    expect(await get(writer, "/v1/health")).toEqual([200, ready]);
  });

  it("is unavailable when the write-ahead log was deleted", async () => {
    const file = await temporaryFile();
    const { clock, engine } = world();
    const one = engine(sqlite({ file }));
    await one.messages.send(text);
    await rm(`${file}-wal`);
    while ((await one.health()).status === "ok") await clock.advance(1_000);
    // Anyone may ask, so the answer names no path.
    const reason = /^The write-ahead log was deleted or moved while the database was open\. [^/]*$/;
    await expectUnavailable(one, "storage_damaged", reason);
    await clock.advance(60_000);
    await expectUnavailable(one, "storage_damaged", reason);
  });

  it("is unavailable from the first commit that meets a damaged page on, though others would succeed", async () => {
    const file = await temporaryFile();
    const { clock, engine, log } = world();
    const one = engine(sqlite({ file }));
    await one.messages.send(text);
    const handle = new DatabaseSync(file);
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const root = handle.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
    const page = Number(root.get("tidings_messages")?.["rootpage"]);
    handle.close();
    const damaging = await open(file, "r+");
    await damaging.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, (page - 1) * 4_096);
    await damaging.close();
    for (let i = 0; i < 2; i++) {
      await expect(one.messages.send(text)).rejects.toMatchObject({ code: "storage_damaged" });
      const reason = /^The database file is damaged: SQLite cannot read a page\. .*Restore it/;
      await expectUnavailable(one, "storage_damaged", reason);
      await clock.advance(60_000);
      await expectUnavailable(one, "storage_damaged", reason);
    }
    expect(log.filter(({ message }) => message === "the storage is damaged")).toHaveLength(1);
  });

  it("is unavailable while another connection holds the lock of the SQLite file", async () => {
    const file = await temporaryFile();
    const { clock, engine } = world();
    const one = engine(sqlite({ file }));
    await one.messages.send(text);
    await clock.advance(1_000);
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const health = one.health();
    await clock.advance(2_000);
    expect(await health).toMatchObject({ reasons: [{ message: /within 2 s/ }] });
    other.close();
  });

  it("is unavailable while the disk of a PostgreSQL server is full", async () => {
    const database = await makeDatabase(await serverUrl(), await migrated());
    onTestFinished(() => database[Symbol.asyncDispose]());
    const pool = database.pool();
    const { clock, engine } = world();
    const one = engine(postgres({ pool }));
    expect(await get(one, "/v1/health")).toEqual([200, ready]);
    await pool.query(`
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON tidings_settings EXECUTE FUNCTION full_disk();
    `);
    await clock.advance(1_000);
    await expectUnavailable(one, "storage_unavailable", /disk of the PostgreSQL server is full/);
    await pool.query("DROP TRIGGER full_disk ON tidings_settings");
    await clock.advance(1_000);
    expect(await get(one, "/v1/health")).toEqual([200, ready]);
  });

  it("is unavailable when the engine stops", async () => {
    const one = world().engine(memory());
    await one.messages.send(text);
    await one.stop();
    await expectUnavailable(one, "shutting_down", /stopped/);
  });
});

/** A storage whose commits are counted, and can fail or hang. */
function storage() {
  const port = memory();
  const state = { commits: 0, commit: (): void | Promise<void> => {} };
  const counted = beforeCommits(port, () => {
    state.commits++;
    return state.commit();
  });
  return { port: counted, state };
}

const fails = (): never => {
  throw new TidingsError("storage_unavailable", "The disk failed.");
};

describe("a health check", () => {
  it("writes at most once a second, and not at all while commands are committed", async () => {
    const { clock, engine } = world();
    const { port, state } = storage();
    const one = engine(port);
    await one.messages.send(text);
    const commits = async (): Promise<number> => {
      const before = state.commits;
      await Promise.all(Array.from({ length: 50 }, () => one.health()));
      return state.commits - before;
    };
    expect(await commits()).toBe(0);
    await clock.advance(1_000);
    expect(await commits()).toBe(1);
    expect(await commits()).toBe(0);
    // When the clock is set back, the last commit no longer counts as recent.
    clock.step(-60_000);
    expect(await commits()).toBe(1);
    expect(await commits()).toBe(0);
    state.commit = fails;
    await clock.advance(1_000);
    expect(await commits()).toBe(1);
    expect(await commits()).toBe(0);
  });

  it("shows at once that a command could not be committed", async () => {
    const { clock, engine } = world();
    const { port, state } = storage();
    const one = engine(port);
    await one.messages.send(text);
    expect(await one.health()).toEqual(ready);
    state.commit = fails;
    await expect(one.messages.send(text)).rejects.toThrow("The disk failed.");
    await expectUnavailable(one, "storage_unavailable", /The disk failed/);
    state.commit = () => {};
    await clock.advance(1_000);
    expect(await one.health()).toEqual(ready);
  });

  it("shows at once, and from then on, that the files of the storage were damaged", async () => {
    const { clock, engine } = world();
    const damage = new TidingsError("storage_damaged", "The file was deleted.");
    let report = (): void => {};
    const port: StoragePort = over(memory(), {
      watch: (_listener, onDamage) => {
        report = () => onDamage?.(damage);
        return () => {};
      },
    });
    const one = engine(port);
    await one.messages.send(text);
    expect(await one.health()).toEqual(ready);
    report();
    await expectUnavailable(one, "storage_damaged", /was deleted/);
    await clock.advance(60_000);
    await expectUnavailable(one, "storage_damaged", /was deleted/);
  });

  it("ends after two seconds while the storage hangs, and starts no second write", async () => {
    const { clock, engine } = world();
    const { port, state } = storage();
    const one = engine(port);
    await one.messages.send(text);
    await clock.advance(1_000);
    let proceed = (): void => {};
    const hanging = new Promise<void>((resolve) => (proceed = resolve));
    state.commit = () => hanging;
    const before = state.commits;
    for (let n = 0; n < 3; n++) {
      const health = one.health();
      await clock.advance(2_000);
      expect(await health).toMatchObject({
        reasons: [
          { code: "storage_unavailable", message: expect.stringContaining("2 s") as string },
        ],
      });
      let isKnown = false;
      void one.health().then(({ status }) => (isKnown = status === "unavailable"));
      await clock.settle();
      expect(isKnown, "the next check does not wait").toBe(true);
      await clock.advance(1_000);
    }
    expect(state.commits - before).toBe(1);
    proceed();
    await clock.advance(1_000);
    expect(await one.health()).toEqual(ready);
  });
});
