import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import { firstSchema, insertNote, notes } from "../notes.ts";
import { closing, write } from "../port.ts";
import { temporaryDirectory } from "./files.ts";
import { opened } from "./opened.ts";

it("a backup in one step has one state of the database, and ends while the engine writes", async () => {
  const { port, file } = await opened();
  // Several steps of the default 100 pages.
  await write(
    port,
    ...Array.from({ length: 100 }, (_, i) => insertNote(`a${i}`, "x".repeat(20_000))),
  );
  const source = new DatabaseSync(file);
  const copy = join(await temporaryDirectory(), "backup.db");
  let isDone = false;
  const copying = backup(source, copy, { rate: 2 ** 31 - 1 }).finally(() => (isDone = true));
  let count = 0;
  while (!isDone) {
    await write(port, insertNote(`b${count++}`), insertNote(`c${count}`));
    await port.yieldToEventLoop();
  }
  await copying;
  source.close();
  const restored = closing(sqlite({ file: copy, check: "full" }));
  await restored.open(firstSchema);
  const found = await notes(restored);
  const [b, c] = ["b", "c"].map((letter) => found.filter((id) => String(id).startsWith(letter)));
  expect(found.length).toBeGreaterThanOrEqual(100);
  expect(b).toHaveLength(c?.length ?? 0);
});
