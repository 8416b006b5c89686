/** SQLite: one file in a temporary directory. */
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { databaseView, type DatabaseView } from "./database-view.ts";
import { mountDisk, type SmallDisk } from "./small-disk.ts";
import type { CrashedStorage, Mishap } from "./storages.ts";
import { tearLog } from "./torn-log.ts";

const run = promisify(execFile);

export async function crashedSqlite(): Promise<CrashedStorage> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-crash-"));
  const home = join(directory, "disk");
  await mkdir(home);
  const disk = await mountDisk(home);
  const file = join(home, "crashed.db");
  return {
    name: "sqlite",
    processes: 1,
    mishaps: {
      kill: { weight: 6 },
      "torn log": {
        weight: 2,
        async after(dice) {
          await tearLog(`${file}-wal`, dice);
        },
      },
      "read-only": {
        weight: 1,
        after: () => setReadOnly(home, disk, true),
        end: () => setReadOnly(home, disk, false),
      },
      ...(process.platform === "linux" ? { "size limit": sizeLimit(file) } : {}),
      ...(disk === undefined ? {} : { "disk full": diskFull(disk) }),
    },
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
    async [Symbol.asyncDispose]() {
      await disk?.[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** How much room is left on a disk that is nearly full: some pages of the log, or none. */
const maxFreeBytes = 100_000;

function diskFull(disk: SmallDisk): Mishap & { readonly weight: number } {
  return {
    weight: 2,
    before: (_pid, dice) => disk.fill(dice.whole(0, maxFreeBytes)),
    end: () => disk.makeRoom(),
  };
}

/** The process may not make its files larger: its writes fail, as on a disk with errors. */
function sizeLimit(file: string): Mishap & { readonly weight: number } {
  return {
    weight: 1,
    async before(pid, dice) {
      const { size } = await stat(`${file}-wal`).catch(() => ({ size: 0 }));
      const limit = size + dice.whole(0, maxFreeBytes);
      // The process may have ended by itself.
      await run("prlimit", ["--pid", String(pid), `--fsize=${limit}:unlimited`]).catch(() => {});
    },
  };
}

/** Root may write to files that are read-only, but not on a file system that is. */
async function setReadOnly(home: string, disk: SmallDisk | undefined, is: boolean): Promise<void> {
  if (disk !== undefined) return disk.setReadOnly(is);
  const names = await readdir(home);
  if (!is) await chmod(home, 0o700);
  for (const name of names) await chmod(join(home, name), is ? 0o400 : 0o600);
  if (is) await chmod(home, 0o500);
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
