/** Database files with the engine's schema. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "../../../adapters/storage/sqlite/index.ts";
import { schema } from "../../../src/modules.ts";

// To write these bytes takes half as long as to create the tables.
const migrated = await migratedFile();

/** Creates a database file with the engine's schema, without rows. */
export function writeMigrated(file: string): void {
  writeFileSync(file, migrated);
}

async function migratedFile(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "tidings-"));
  try {
    const file = join(folder, "test.db");
    const storage = sqlite({ file });
    await storage.migrate(schema);
    await storage.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
