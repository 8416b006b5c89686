/** The storages that are crashed, as the process under test opens them and as the judge looks at them from outside. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";

/** What a process is told of its storage. */
export interface StorageSettings {
  readonly kind: "sqlite";
  readonly file: string;
}

export function openStorage({ file }: StorageSettings): StoragePort {
  return sqlite({ file });
}

export interface MessageFacts {
  readonly id: string;
  readonly idempotency_key: string | null;
  readonly status: string;
}

export interface AttemptFacts {
  readonly id: string;
  readonly message_id: string;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly answered_at: number | null;
  readonly leased_until: number;
}

/** Sees what is committed, whoever else works on the storage. */
export interface View extends Disposable {
  hasAttempt(id: string): boolean;
  hasMessage(id: string): boolean;
  messages(): readonly MessageFacts[];
  attempts(): readonly AttemptFacts[];
  /** Messages that have not come to their end. */
  unsettled(): number;
}

export interface CrashedStorage extends AsyncDisposable {
  readonly name: string;
  /** Engines that work on it at once. */
  readonly processes: number;
  readonly settings: StorageSettings;
  view(): View;
  /** The same, of what a kill left behind, as a copy: the next process finds it untouched. Answers also what is damaged. */
  wreck(): Promise<{ readonly view: View; readonly damage: readonly string[] }>;
}

export const storageNames = ["sqlite"] as const;

export async function crashedStorage(): Promise<CrashedStorage> {
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
  const db = new DatabaseSync(file, { readOnly, timeout: 5_000 });
  const attempt = db.prepare("SELECT 1 FROM tidings_message_attempts WHERE id = ?");
  const message = db.prepare("SELECT 1 FROM tidings_messages WHERE id = ?");
  const ends = "'delivered', 'read', 'undelivered', 'failed'";
  const unsettled = db.prepare(`SELECT count(*) AS count FROM tidings_messages WHERE status NOT IN (${ends})`);
  return {
    hasAttempt: (id) => attempt.get(id) !== undefined,
    hasMessage: (id) => message.get(id) !== undefined,
    messages: () => db.prepare("SELECT id, idempotency_key, status FROM tidings_messages").all() as never,
    attempts: () =>
      db
        .prepare(
          `SELECT id, message_id, outcome, error ->> 'code' AS error_code, answered_at, leased_until
             FROM tidings_message_attempts`,
        )
        .all() as never,
    unsettled: () => Number(unsettled.get()?.["count"]),
    [Symbol.dispose]: () => db.close(),
  };
}
