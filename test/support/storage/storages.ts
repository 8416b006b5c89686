/** The storages that behavior is tested on. Each test gets its own, removed after the test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { postgres, type PostgresPool } from "../../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";
import { makeDatabase } from "../postgres/temporary-database.ts";
import { serverUrl } from "../postgres/test-database.ts";
import { cases } from "../runs.ts";
import { realTimeStorage } from "./real-time-storage.ts";
import { reusedDatabase, type ReusedDatabase } from "./reused-database.ts";
import { writeMigrated } from "./sqlite-file.ts";

/** A storage that several engines can connect to, as processes do. */
export interface Ground {
  connect(): StoragePort;
}

export interface StorageCase {
  /** Tests with random inputs do fewer runs where each takes longer. */
  readonly name: "memory" | "SQLite" | "PostgreSQL";
  /** Call it within a test; the storage is removed after it. `empty` leaves out the schema. */
  readonly open: (options?: { readonly empty?: boolean }) => Ground;
}

export const storages: readonly StorageCase[] = [
  { name: "memory", open: memoryGround },
  {
    name: "SQLite",
    open({ empty = false } = {}) {
      const folder = mkdtempSync(join(tmpdir(), "tidings-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const file = join(folder, "test.db");
      if (!empty) writeMigrated(file);
      return { connect: () => sqlite({ file }) };
    },
  },
  {
    name: "PostgreSQL",
    open({ empty = false } = {}) {
      let made: Promise<ReusedDatabase> | undefined;
      // Cleanups run in reverse order, so the database outlives the engines registered later.
      onTestFinished(async () => (await made)?.[Symbol.asyncDispose]());
      const listeners = new Set<() => void>();
      // Replaces LISTEN/NOTIFY, which takes real time. Other tests cover that.
      const notify = (): void => {
        for (const listener of listeners) queueMicrotask(listener);
      };
      const watch = (listener: () => void): (() => void) => {
        const unique = (): void => listener();
        listeners.add(unique);
        return () => listeners.delete(unique);
      };
      const database = (): Promise<ReusedDatabase> =>
        (made ??= empty ? serverUrl().then((url) => makeDatabase(url)) : reusedDatabase());
      return {
        connect() {
          const port = postgres({ pool: lazyPool(database) });
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
          return realTimeStorage(ready, notify, watch);
        },
      };
    },
  },
];

/**
 * The storages within the process. They run the commands of a group in turn, and the process keeps
 * the rows that it writes. PostgreSQL runs the commands of a group at the same time.
 */
export const embeddedStorages = storages.filter(({ name }) => name !== "PostgreSQL");

/**
 * The storages for a behavior that the engine alone decides, whatever storage it has. `npm test`
 * tries it on SQLite, the default. The conformance tests of the adapters and the main path of each
 * feature try the others.
 */
export const lightStorages = cases(storages, ({ name }) => name === "SQLite");

/** A memory that several engines share. */
export function memoryGround(): Ground {
  const storage = memory();
  return { connect: () => storage };
}

/** A pool whose database is created when the first connection is requested. */
function lazyPool(database: () => Promise<ReusedDatabase>): PostgresPool {
  let pool: Promise<PostgresPool> | undefined;
  return {
    connect: async () => (await (pool ??= database().then((made) => made.pool()))).connect(),
  };
}
