/** Files that are overwritten: the storage notices, and says so. */
import { copyFile, open, readFile, stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { Connection } from "../../../../adapters/storage/sqlite/connections/connection.ts";
import { findDamage } from "../../../../adapters/storage/sqlite/damage/find-damage.ts";
import { sqlite, type SqliteOptions } from "../../../../adapters/storage/sqlite/index.ts";
import { firstSchema, insertNote, notes } from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { temporaryFile } from "./files.ts";

const pageSize = 4_096;

describe("damage in the middle of the file", () => {
  /** Creates a database with `count` notes, without a log. Returns its number of pages. */
  async function filled(file: string, count: number): Promise<number> {
    const port = sqlite({ file });
    await port.open(firstSchema);
    await write(
      port,
      ...Array.from({ length: count }, (_, n) => insertNote(`n${n}`, "x".repeat(500))),
    );
    await port.close();
    return (await stat(file)).size / pageSize;
  }

  async function overwrite(file: string, at: number, bytes: Buffer): Promise<void> {
    const handle = await open(file, "r+");
    await handle.write(bytes, 0, bytes.length, at);
    await handle.close();
  }

  const refusal = (file: string): object => ({
    code: "storage_damaged",
    retryable: false,
    message: says(new RegExp(`${file} is damaged .*Restore it from a backup`)),
    detail: says(/^The database file is damaged\. Restore it from a backup/),
  });

  it.each(["quick", "full"] as const)("is found on opening by a %s check", async (check) => {
    const file = await temporaryFile();
    const pages = await filled(file, 2_000);
    const intact = sqlite({ file, check });
    await intact.open(firstSchema);
    expect(await notes(intact)).toHaveLength(2_000);
    await intact.close();
    for (const [bytes, at] of [
      [Buffer.alloc(pageSize, 0xa5), Math.floor(pages / 2) * pageSize],
      [Buffer.alloc(pageSize), Math.floor(pages / 2) * pageSize],
      [Buffer.alloc(pageSize, 0xff), Math.floor(pages / 2) * pageSize + 1_000],
    ] as const) {
      const copy = `${file}-copy`;
      await copyFile(file, copy);
      await overwrite(copy, at, bytes);
      await expect(sqlite({ file: copy, check }).open(firstSchema)).rejects.toMatchObject(
        refusal(copy),
      );
    }
  });

  it.each(["quick", "full"] as const)(
    "is not reported by a %s check for constraints and functions of the host application",
    async (check) => {
      const file = await temporaryFile();
      const handle = new DatabaseSync(file);
      handle.function("is_valid", { deterministic: true, varargs: true }, () => 1);
      handle.exec(`
        PRAGMA ignore_check_constraints = ON;
        CREATE TABLE orders (number INTEGER CHECK (number > 0));
        INSERT INTO orders VALUES (-1);
        CREATE TABLE customers (name TEXT CHECK (is_valid(name)));
        CREATE INDEX valid_customers ON customers (is_valid(name));
        INSERT INTO customers VALUES ('Kim');
      `);
      handle.close();
      const port = closing(sqlite({ file, check }));
      await port.open(firstSchema);
      await write(port, insertNote("first"));
      expect(await notes(port)).toHaveLength(1);
    },
  );

  it("is found in the first rows of a table of a large database", async () => {
    const file = await temporaryFile();
    await filled(file, 2_000);
    const check = (): string => {
      const handle = new DatabaseSync(file);
      try {
        return findDamage(new Connection(handle), "quick", 0);
      } finally {
        handle.close();
      }
    };
    expect(check()).toBe("");
    const handle = new DatabaseSync(file);
    const root = handle.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?");
    const page = Number(root.get("tidings_notes")?.["rootpage"]);
    handle.close();
    await overwrite(file, (page - 1) * pageSize, Buffer.alloc(pageSize, 0xa5));
    expect(check).toThrow(/malformed/);
  });

  it("within a row is found by a full check only", async () => {
    const file = await temporaryFile();
    await filled(file, 10);
    const handle = new DatabaseSync(file);
    handle.exec("UPDATE tidings_notes SET text = 'needle 1' WHERE id = 'n1'; VACUUM");
    handle.close();
    // The text of the row in its table, which then differs from that in the index.
    const at = (await readFile(file)).indexOf("needle 1");
    await overwrite(file, at, Buffer.from("needle 2"));
    const quick = closing(sqlite({ file }));
    await quick.open(firstSchema);
    await quick.close();
    await expect(sqlite({ file, check: "full" }).open(firstSchema)).rejects.toMatchObject(
      refusal(file),
    );
  });

  it("is reported as damage, not as a failure to retry, when a command meets it", async () => {
    const file = await temporaryFile();
    const pages = await filled(file, 2_000);
    const port = closing(sqlite({ file }));
    await port.open(firstSchema);
    await overwrite(file, Math.floor(pages / 2) * pageSize, Buffer.alloc(pageSize, 0xa5));
    await expect(notes(port)).rejects.toMatchObject({
      code: "storage_damaged",
      retryable: false,
      message: says(new RegExp(`${file} is damaged`)),
      detail: says(
        /^The database file is damaged: SQLite cannot read a page\. Restore it from a backup/,
      ),
    });
  });

  it("an unknown check is refused", () => {
    const options = JSON.parse('{"file": "x", "check": "deep"}') as SqliteOptions;
    expect(() => sqlite(options)).toThrow(/check: expected "quick" or "full"/);
  });
});
