import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { storageConformance } from "../../../adapters/testing/conformance/storage/index.ts";
import { over } from "../../support/over.ts";

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

it("the suite for storages says what a storage has to do and what it did", async () => {
  const checks = new Map<string, () => Promise<void>>();
  const forgetful = () => {
    const port = memory();
    return over(port, { reader: { ...port.reader, range: async () => [] } });
  };
  const runner = {
    describe: (_: string, define: () => void) => define(),
    it: (name: string, run: () => Promise<void>) => void checks.set(name, run),
  };
  storageConformance(runner, "forgetful", async () => ({ connect: forgetful }));
  const check = checks.get("text sorts by code point, and false sorts before true");
  const said = await check?.().then(
    () => "nothing",
    (error: unknown) => String(error),
  );
  expect(said).toMatch(
    /^Error: text sorts by code point, and false sorts before true: expected \[.+\] \(names in order\), got \[\]$/,
  );
});
