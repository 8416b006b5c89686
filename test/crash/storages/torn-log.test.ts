import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Dice } from "../dice.ts";
import { tearLog } from "./torn-log.ts";

test("a torn frame at the end of SQLite's log changes the log, and SQLite loses no commit by it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tidings-torn-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [file, copy] = [join(folder, "a.db"), join(folder, "copy.db")];
  using db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA cache_size = 5; CREATE TABLE rows (text TEXT)");
  const insert = db.prepare("INSERT INTO rows VALUES (?)");
  for (let i = 0; i < 20; i++) insert.run("x".repeat(i * 500));
  // The log begins anew, so that frames of the earlier round follow the new ones.
  db.exec("PRAGMA wal_checkpoint(RESTART)");
  for (let i = 0; i < 5; i++) insert.run("y".repeat(i * 500));
  // So large that SQLite writes frames before the commit, which never comes.
  db.exec("BEGIN");
  for (let i = 0; i < 30; i++) insert.run("z".repeat(3_000));
  const written = await readFile(`${file}-wal`);

  const changed = new Set<boolean>();
  const property = fc.asyncProperty(fc.nat(), async (seed) => {
    await rm(`${copy}-shm`, { force: true });
    await copyFile(file, copy);
    await copyFile(`${file}-wal`, `${copy}-wal`);
    expect(await tearLog(`${copy}-wal`, new Dice(seed)), "A frame of the log was torn.").toBe(true);
    changed.add(!written.equals(await readFile(`${copy}-wal`)));
    using torn = new DatabaseSync(copy);
    expect(torn.prepare("SELECT count(*) AS rows FROM rows").get()).toEqual({ rows: 25 });
    expect(torn.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  });
  await fc.assert(property, { numRuns: 20 });
  expect(changed).toEqual(new Set([true]));
});
