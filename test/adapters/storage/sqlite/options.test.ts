import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { sqlite, type SqliteOptions } from "../../../../adapters/storage/sqlite/index.ts";

it("invalid options are refused with what was expected and what came", () => {
  expect(() => sqlite({ file: ":memory:" })).toThrow(/memory\(\)/);
  expect(() => sqlite({ file: "file:x?mode=memory" })).toThrow(/memory\(\)/);
  expect(() => sqlite({ file: "" })).toThrow(/file: expected .*, got/);
  expect(() => sqlite({ file: "a\0.db" })).toThrow(/file: expected .*, got/);
  const parsed = (text: string): SqliteOptions => JSON.parse(text) as SqliteOptions;
  expect(() => sqlite(parsed("{}"))).toThrow(
    /file: expected the path of a database file, got undefined/,
  );
  const wrong = parsed('{"file": "x", "migrate": "yes"}');
  expect(() => sqlite(wrong)).toThrow(/migrate: expected true or false, got a string/);
  expect(existsSync(":memory:")).toBe(false);
});
