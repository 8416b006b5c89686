/** The storages that the engine's behaviour is tested over, each made anew for a test and removed after it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";

/** One storage, to which several engines can connect as processes do. */
export interface Ground {
  connect(): StoragePort;
}

export interface StorageCase {
  readonly name: string;
  /** To be called within a test: the storage is removed when that has finished. */
  readonly open: () => Ground;
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
];
