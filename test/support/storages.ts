/** The storages that the engine's behaviour is tested over, each made anew for a test and removed after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { type PostgresPool, postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { over } from "./over.ts";
import { type Database, makeDatabase } from "./postgres-database.ts";
import { migrated, serverUrl } from "./postgres.ts";
import { unhurried } from "./unhurried.ts";

/** One storage, to which several engines can connect as processes do. */
export interface Ground {
  connect(): StoragePort;
}

export interface StorageCase {
  /** Properties have fewer runs where each takes longer. */
  readonly name: "memory" | "SQLite" | "PostgreSQL";
  /** To be called within a test: the storage is removed when that has finished. `empty`: has not even the engine's schema. */
  readonly open: (options?: { readonly empty?: boolean }) => Ground;
}

export const storages: readonly StorageCase[] = [
  {
    name: "memory",
    open() {
      const storage = memory();
      return { connect: () => storage };
    },
  },
  {
    name: "SQLite",
    open() {
      const folder = mkdtempSync(join(tmpdir(), "tidings-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return { connect: () => sqlite({ file: join(folder, "test.db") }) };
    },
  },
  {
    name: "PostgreSQL",
    open({ empty = false } = {}) {
      let made: Promise<Database> | undefined;
      // Registered before any engine's end is, so that it comes after that.
      onTestFinished(async () => (await made)?.[Symbol.asyncDispose]());
      const listeners = new Set<() => void>();
      // Notifications take as long as they take: what has to do with them is tested in real time.
      const tell = (): void => {
        for (const listener of listeners) queueMicrotask(listener);
      };
      const watch = (listener: () => void): (() => void) => {
        const own = (): void => listener();
        listeners.add(own);
        return () => listeners.delete(own);
      };
      const database = (): Promise<Database> => (made ??= fresh(empty));
      return {
        connect() {
          const port = postgres({ pool: lazy(database) });
          // The first database of a run may take longer than the storage waits for a connection.
          const ready = over(port, {
            open: async (schema) => {
              await database();
              await port.open(schema);
            },
            migrate: async (schema) => {
              await database();
              await port.migrate(schema);
            },
          });
          return unhurried(ready, tell, watch);
        },
      };
    },
  },
];

async function fresh(empty: boolean): Promise<Database> {
  return makeDatabase(await serverUrl(), empty ? undefined : await migrated());
}

/** A pool to a database that is made when the first connection is asked for. */
function lazy(database: () => Promise<Database>): PostgresPool {
  let pool: Promise<PostgresPool> | undefined;
  return {
    connect: async () => (await (pool ??= database().then((made) => made.pool()))).connect(),
  };
}
