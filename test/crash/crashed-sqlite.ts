import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CrashedStorage } from "./storages.ts";
import { type View, viewBy } from "./view.ts";

export async function crashedSqlite(): Promise<CrashedStorage> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-crash-"));
  const file = join(directory, "crashed.db");
  return {
    name: "sqlite",
    processes: 1,
    settings: { kind: "sqlite", file },
    view: () => viewOf(file, true),
    async wreck() {
      const copy = join(directory, "copy.db");
      await rm(`${copy}-shm`, { force: true });
      await copyFile(file, copy);
      await copyFile(`${file}-wal`, `${copy}-wal`).catch(() => rm(`${copy}-wal`, { force: true }));
      // Recovering the log is a write.
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

/** Reading alone leaves no trace when it ends: else the last one to go would tidy the log up before it is recovered. */
function viewOf(file: string, readOnly: boolean): View {
  const db = new DatabaseSync(file, { readOnly, timeout: 60_000 });
  return viewBy(
    async (sql, ...values) => db.prepare(sql).all(...values),
    async () => db.close(),
  );
}
