/** SQLite: one file in a temporary directory. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CrashedStorage } from "./storages.ts";
import { type DatabaseView, databaseView } from "./database-view.ts";

export async function crashedSqlite(): Promise<CrashedStorage> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-crash-"));
  const file = join(directory, "crashed.db");
  return {
    name: "sqlite",
    processes: 1,
    settings: { kind: "sqlite", file },
    view: () => viewOf(file, true),
    async inspectAfterKill() {
      const copy = join(directory, "copy.db");
      await rm(`${copy}-shm`, { force: true });
      await copyFile(file, copy);
      await copyFile(`${file}-wal`, `${copy}-wal`).catch(() => rm(`${copy}-wal`, { force: true }));
      // Opened for writing, since SQLite recovers the log by writing.
      return { damage: damageOf(copy), view: viewOf(copy, false) };
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

function damageOf(file: string): string[] {
  using db = new DatabaseSync(file);
  const found = db.prepare("PRAGMA integrity_check").all();
  return found.map((row) => String(row["integrity_check"])).filter((line) => line !== "ok");
}

/**
 * A read-only connection leaves the log as it is when it closes. A writable one would check-point
 * it, so that the next process would have nothing to recover.
 */
function viewOf(file: string, readOnly: boolean): DatabaseView {
  const db = new DatabaseSync(file, { readOnly, timeout: 60_000 });
  return databaseView(
    async (sql, ...values) => db.prepare(sql).all(...values),
    async () => db.close(),
  );
}
