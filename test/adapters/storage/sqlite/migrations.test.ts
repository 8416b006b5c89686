import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { schemaOf } from "../../../../src/ports/collection.ts";
import { collection, nullable, text } from "../../../../src/ports/define-collection.ts";
import { StorageConflict } from "../../../../src/ports/storage.ts";
import { cases } from "../../../support/runs.ts";
import {
  firstSchema,
  insertNote,
  laterNoteById,
  laterNotes,
  notes,
  secondSchema,
} from "../notes.ts";
import { closing, says, write } from "../port.ts";
import { Peer, temporaryFile } from "./files.ts";

/** What the shell's `.schema` shows, and what SQLite knows about columns. */
function shape(file: string): unknown {
  const database = new DatabaseSync(file);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all();
  const columns = database.prepare(
    `SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY 1`,
  );
  const indexes = database.prepare(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? ORDER BY 1",
  );
  const shapes = tables.map(({ name }) => [
    name,
    columns.all(String(name)),
    indexes.all(String(name)),
  ]);
  database.close();
  return shapes;
}

describe("migrations of the SQLite storage", () => {
  it("print SQL that creates the same schema as opening does", async () => {
    const [opened, printed] = [await temporaryFile(), await temporaryFile()];
    await closing(sqlite({ file: opened })).open(secondSchema);
    const database = new DatabaseSync(printed);
    database.exec(sqlite({ file: printed }).migrationSql(secondSchema));
    database.close();
    expect(shape(printed)).toEqual(shape(opened));
    await closing(sqlite({ file: printed, migrate: false })).open(secondSchema);
  });

  it("upgrade a database with rows, which get the new columns' fill values and keep the rest", async () => {
    const [opened, printed, fresh] = [
      await temporaryFile(),
      await temporaryFile(),
      await temporaryFile(),
    ];
    for (const file of [opened, printed]) {
      const before = sqlite({ file });
      await before.open(firstSchema);
      await write(before, insertNote("a", "old"), insertNote("b"));
      await before.close();
    }
    const database = new DatabaseSync(printed);
    database.exec(sqlite({ file: printed }).migrationSql(secondSchema, 1));
    database.close();
    for (const file of [opened, printed]) {
      const after = closing(sqlite({ file }));
      await after.open(secondSchema);
      const [rows] = await after.reader.get([{ index: laterNoteById, key: ["a"], limit: 1 }]);
      expect(rows).toEqual([
        { id: "a", text: "old", count: 0, kind: "it's plain", tags: [], stars: null, version: 1 },
      ]);
      const again = { kind: "insert", collection: laterNotes, row: rows?.[0] ?? {} } as const;
      await expect(write(after, again)).rejects.toThrow(StorageConflict);
    }
    await closing(sqlite({ file: fresh })).open(secondSchema);
    expect(shape(opened)).toEqual(shape(fresh));
    expect(shape(printed)).toEqual(shape(fresh));
  });

  it("keep the rows and views of the host application that refer to a table which is rebuilt", async () => {
    const columns = { id: text(), words: nullable(text()) };
    const [plain, searched] = [collection("books", columns), collection("books", columns)];
    for (const each of [plain, searched]) each.key("id");
    searched.words("by_words", "words", { since: 2 });
    for (const how of ["opened", "printed"]) {
      const file = await temporaryFile();
      const before = sqlite({ file });
      await before.open(schemaOf([plain]));
      const row = { id: "a", words: "b", version: 1 };
      await write(before, { kind: "insert", collection: plain, row });
      await before.close();
      const host = new DatabaseSync(file);
      host.exec(`CREATE TABLE loans (book TEXT REFERENCES tidings_books (id) ON DELETE CASCADE);
        INSERT INTO loans VALUES ('a'); CREATE VIEW titles AS SELECT id FROM tidings_books`);
      const later = schemaOf([searched]);
      if (how === "printed") host.exec(sqlite({ file }).migrationSql(later, 1));
      const after = closing(sqlite({ file }));
      await after.open(later);
      expect(host.prepare("SELECT book, id FROM loans, titles").all()).toEqual([
        { book: "a", id: "a" },
      ]);
      // The database goes on to check and apply what the host application has declared.
      const remove = { kind: "remove", collection: searched, key: ["a"], version: 1 } as const;
      await write(after, remove);
      expect(host.prepare("SELECT book FROM loans").all()).toEqual([]);
      expect(() => host.exec("INSERT INTO loans VALUES ('none')")).toThrow("FOREIGN KEY");
      host.close();
    }
  });

  it("refuse a database of a newer version, and leave it unchanged", async () => {
    const file = await temporaryFile();
    const newer = closing(sqlite({ file }));
    await newer.open(secondSchema);
    const before = shape(file);
    const older = closing(sqlite({ file }));
    await expect(older.open(firstSchema)).rejects.toMatchObject({
      code: "storage_newer",
      message: says(/version 2.*at most 1/),
    });
    await expect(older.migrate(firstSchema)).rejects.toMatchObject({ code: "storage_newer" });
    expect(shape(file)).toEqual(before);
  });

  it("refuse an older database when migration is turned off", async () => {
    const file = await temporaryFile();
    const port = closing(sqlite({ file, migrate: false }));
    await expect(port.open(firstSchema)).rejects.toMatchObject({ code: "storage_outdated" });
    await port.migrate(firstSchema);
    await port.open(firstSchema);
    await write(port, insertNote("a"));
    const next = closing(sqlite({ file, migrate: false }));
    await expect(next.open(secondSchema)).rejects.toMatchObject({
      code: "storage_outdated",
      message: says(/version 1.*needs 2/),
    });
    await next.migrate(secondSchema);
    await next.open(secondSchema);
    expect(await notes(port)).toEqual(["a"]);
  });

  it("leave the database unchanged when they fail half-way", async () => {
    const file = await temporaryFile();
    const before = sqlite({ file });
    await before.open(firstSchema);
    await write(before, insertNote("a"));
    await before.close();
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE tidings_additions (of TEXT, the TEXT, host TEXT)");
    database.close();
    const untouched = shape(file);
    await expect(sqlite({ file }).open(secondSchema)).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect(shape(file)).toEqual(untouched);
  });

  it("work when several processes start at once", async () => {
    const all = [
      [undefined, "2"],
      [firstSchema, "2"],
      [undefined, "1"],
    ] as const;
    for (const [before, version] of cases(all, (each) => each[0] === firstSchema)) {
      const file = await temporaryFile();
      if (before !== undefined) {
        const port = sqlite({ file });
        await port.open(before);
        await port.close();
      }
      const peers = Array.from({ length: 3 }, () => new Peer("open", file, version));
      for (const peer of peers) expect(await peer.line()).toBe("ready");
      for (const peer of peers) peer.go();
      expect(await Promise.all(peers.map((peer) => peer.line()))).toEqual(["done", "done", "done"]);
      await closing(sqlite({ file, migrate: false })).open(
        version === "1" ? firstSchema : secondSchema,
      );
    }
  });
});
