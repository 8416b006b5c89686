import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { storageConformance } from "../../../adapters/testing/storage-conformance/index.ts";

storageConformance({ describe, it }, "memory", async () => {
  const storage = memory();
  return { connect: () => storage };
});

storageConformance({ describe, it }, "sqlite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tidings-"));
  return {
    connect: () => sqlite({ file: join(directory, "test.db") }),
    remove: () => rm(directory, { recursive: true }),
  };
});
