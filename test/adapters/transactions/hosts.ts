/**
 * Storages with transactions that a host application's statements can join, each with a table of
 * the host application.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PoolClient } from "pg";
import { onTestFinished } from "vitest";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { held, realTimeStorage } from "../../support/storage/real-time-storage.ts";
import { reusedDatabase } from "../../support/storage/reused-database.ts";
import { writeMigrated } from "../../support/storage/sqlite-file.ts";
import type { StorageCase } from "../../support/storage/storages.ts";

export interface Host {
  connect(): StoragePort<object>;
  /** Opens a transaction on a connection of the host application. */
  begin(): Promise<OwnTransaction>;
  /** Runs a statement of the host application on its own handle or on the storage's. */
  run(tx: object, sql: string): Promise<void>;
  /** The committed notes in the host application's table, in order of insertion. */
  notes(): Promise<string[]>;
  /** Removes everything. Called automatically at the end of the test. */
  end(): Promise<void>;
}

export interface OwnTransaction {
  readonly tx: object;
  end(how: "COMMIT" | "ROLLBACK"): Promise<void>;
}

export interface HostCase {
  readonly name: Exclude<StorageCase["name"], "memory">;
  /** Has to be called within a test, at whose end everything is removed. */
  readonly open: () => Promise<Host>;
}

export const note = (text: string): string => `INSERT INTO notes (text) VALUES ('${text}')`;

function once(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined;
  const first = (): Promise<void> => (ended ??= end());
  onTestFinished(first);
  return first;
}

export const hosts: readonly HostCase[] = [
  {
    name: "SQLite",
    async open() {
      const folder = mkdtempSync(join(tmpdir(), "tidings-"));
      const file = join(folder, "test.db");
      writeMigrated(file);
      const own = new DatabaseSync(file);
      const end = once(async () => {
        own.close();
        rmSync(folder, { recursive: true, force: true });
      });
      own.exec(
        "PRAGMA journal_mode = WAL; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
      );
      return {
        end,
        connect: () => sqlite({ file }),
        async begin() {
          const tx = new DatabaseSync(file);
          tx.exec("BEGIN IMMEDIATE");
          return {
            tx,
            async end(how) {
              tx.exec(how);
              tx.close();
            },
          };
        },
        run: async (tx, sql) => (tx as DatabaseSync).exec(sql),
        notes: async () =>
          own
            .prepare("SELECT text FROM notes ORDER BY id")
            .all()
            .map(({ text }) => String(text)),
      };
    },
  },
  {
    name: "PostgreSQL",
    async open() {
      const db = await reusedDatabase(
        "CREATE TABLE notes (id SERIAL PRIMARY KEY, text TEXT NOT NULL)",
      );
      const end = once(async () => {
        await db[Symbol.asyncDispose]();
      });
      const own = db.pool();
      const listeners = new Set<() => void>();
      const tell = (): void => {
        for (const listener of listeners) queueMicrotask(listener);
      };
      const watch = (listener: () => void): (() => void) => {
        const mine = (): void => listener();
        listeners.add(mine);
        return () => listeners.delete(mine);
      };
      return {
        end,
        connect: () => realTimeStorage(postgres({ pool: db.pool() }), tell, watch),
        async begin() {
          const tx = await held(own.connect());
          await held(tx.query("BEGIN"));
          return {
            tx,
            async end(how) {
              await held(tx.query(how));
              tx.release();
              tell();
            },
          };
        },
        run: async (tx, sql) => void (await held((tx as PoolClient).query(sql))),
        notes: async () => {
          const { rows } = await held(
            own.query<{ text: string }>("SELECT text FROM notes ORDER BY id"),
          );
          return rows.map(({ text }) => text);
        },
      };
    },
  },
];
