import { DatabaseSync, type StatementSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { StorageConflict, type StoragePort } from "../../../../src/ports/storage.ts";
import { insertNote, noteById, notes, updateNote } from "../notes.ts";
import { write } from "../port.ts";
import { temporaryFile } from "./files.ts";
import { joined, opened } from "./opened.ts";

const handles: Record<string, (file: string) => DatabaseSync> = {
  "with the defaults": (file) => new DatabaseSync(file),
  "set to big integers": (file) => new DatabaseSync(file, { readBigInts: true }),
  "set to rows as arrays": (file) => new DatabaseSync(file, { returnArrays: true }),
};

describe.each(Object.entries(handles))(
  "a transaction of the host application on a handle %s",
  (_, open) => {
    const hosted = async (): Promise<{ port: StoragePort; handle: DatabaseSync }> => {
      const { port, file } = await opened();
      const handle = open(file);
      onTestFinished(() => handle.close());
      return { port, handle };
    };

    it("includes the engine's rows, and commits or undoes them with its own", async () => {
      const { port, handle } = await hosted();
      handle.exec("CREATE TABLE orders (id TEXT PRIMARY KEY)");
      for (const end of ["ROLLBACK", "COMMIT"]) {
        handle.exec(
          "BEGIN; INSERT INTO orders VALUES ('o'); INSERT INTO tidings_notes VALUES ('host', 'h', 7, 1)",
        );
        const group = joined(port, handle);
        const [[seen = {}] = []] = await group.read([{ index: noteById, key: ["host"], limit: 1 }]);
        expect(seen).toEqual({ id: "host", text: "h", count: 7, version: 1 });
        await group.commit([insertNote("engine"), updateNote(seen, { count: 8 })]);
        expect(await notes(port)).toEqual([]);
        handle.exec(end);
        expect(handle.prepare("SELECT * FROM orders").all()).toHaveLength(end === "COMMIT" ? 1 : 0);
      }
      expect(await notes(port)).toEqual(["engine", "host"]);
      const [rows] = await port.reader.get([{ index: noteById, key: ["host"], limit: 1 }]);
      expect(rows).toEqual([{ id: "host", text: "h", count: 8, version: 2 }]);
    });

    it("stays usable after a conflicting commit and after an abort", async () => {
      const { port, handle } = await hosted();
      await write(port, insertNote("a"));
      handle.exec("BEGIN; INSERT INTO tidings_notes VALUES ('host', 'h', 7, 1)");
      expect(() => joined(port, handle).commit([insertNote("b"), insertNote("a")])).toThrow(
        StorageConflict,
      );
      await joined(port, handle).abort();
      await joined(port, handle).commit([insertNote("c")]);
      handle.exec("COMMIT");
      expect(await notes(port)).toEqual(["a", "c", "host"]);
    });

    it("that another connection has overtaken is left to the host application to rerun", async () => {
      const { port, handle } = await hosted();
      await write(port, insertNote("a"));
      handle.exec("BEGIN");
      const group = joined(port, handle);
      await group.read([{ index: noteById, key: ["a"], limit: 1 }]);
      await write(port, insertNote("b"));
      expect(() => group.commit([insertNote("c")])).toThrow(
        expect.objectContaining({ name: "StorageConflict", lastsForTransaction: true }),
      );
      handle.exec("ROLLBACK");
      expect(await notes(port)).toEqual(["a", "b"]);
    });
  },
);

it("a handle that was closed and opened again can be joined again", async () => {
  const { port, file } = await opened();
  const handle = new DatabaseSync(file);
  onTestFinished(() => handle.close());
  for (const id of ["a", "b"]) {
    handle.exec("BEGIN");
    await joined(port, handle).commit([insertNote(id)]);
    handle.exec("COMMIT");
    handle.close();
    handle.open();
  }
  expect(await notes(port)).toEqual(["a", "b"]);
});

describe("a handle that cannot be joined", () => {
  it.each(["ROLLBACK", "COMMIT", "close"])(
    "is refused when its transaction ends before the command does, by %s",
    async (end) => {
      const { port, file } = await opened();
      const handle = new DatabaseSync(file);
      onTestFinished(() => {
        if (handle.isOpen) handle.close();
      });
      handle.exec("BEGIN");
      const group = joined(port, handle);
      if (end === "close") handle.close();
      else handle.exec(end);
      const refusal: unknown = expect.objectContaining({ code: "invalid_option" });
      expect(() => group.read([{ index: noteById, key: ["a"], limit: 1 }])).toThrow(refusal);
      expect(() => group.commit([insertNote("a")])).toThrow(refusal);
      expect(await notes(port)).toEqual([]);
    },
  );

  it("is refused with the reason: no handle, no transaction, another file", async () => {
    const { port, file } = await opened();
    expect(() => joined(port, {})).toThrow(/expected a DatabaseSync of node:sqlite, got an object/);
    expect(() => joined(port, undefined)).toThrow(/got undefined/);
    const handle = new DatabaseSync(file);
    const stranger = new DatabaseSync(await temporaryFile());
    onTestFinished(() => {
      handle.close();
      stranger.close();
    });
    expect(() => joined(port, handle)).toThrow(/open transaction.*BEGIN/);
    stranger.exec("BEGIN");
    expect(() => joined(port, stranger)).toThrow(/on the storage.s database file/);
    const inMemory = new DatabaseSync(":memory:");
    onTestFinished(() => inMemory.close());
    inMemory.exec("BEGIN");
    expect(() => joined(port, inMemory)).toThrow(/, got one on a database in memory$/);
    stranger.close();
    expect(() => joined(port, stranger)).toThrow(/open database handle, got a closed one/);
    stranger.open();
  });

  it("is refused if it is of another SQLite library, which does not see the engine's locks", async () => {
    const { port, file } = await opened();
    const own = new DatabaseSync(file);
    onTestFinished(() => own.close());
    own.exec("BEGIN");
    // The interface that such libraries share.
    class Database {
      readonly exec = (sql: string): void => own.exec(sql);
      readonly prepare = (sql: string): StatementSync => own.prepare(sql);
    }
    expect(() => joined(port, new Database())).toThrow(
      expect.objectContaining({
        code: "invalid_option",
        message:
          "tx: expected a DatabaseSync of node:sqlite, got a Database. Another SQLite library in " +
          "this process does not see the engine's locks, so commits would be lost.",
      }),
    );
  });
});
