import {
  StorageConflict,
  type Row,
  type StoragePort,
  type Write,
} from "../../../../src/ports/index.ts";
import { failsAs, failsWith, same } from "../checks.ts";
import {
  newerNoteById,
  newerNotes,
  newerSchema,
  noteById,
  notes,
  notesByBody,
  notesByKind,
  olderSchema,
  remarkById,
  remarks,
} from "./collections.ts";
import { ids, write, type StorageChecks } from "./fixture.ts";

const insertNote = (id: string, body: string): Write => ({
  kind: "insert",
  collection: notes,
  row: { id, body, version: 1 },
});

const fills = { kind: "it's plain", stars: null, pinned: false, tags: ["new"] };
const upgraded = (id: string, body: string): Row => ({ id, body, ...fills, version: 1 });

async function newerNotesIn(port: StoragePort): Promise<readonly Row[]> {
  return port.reader.range({ index: newerNoteById, prefix: [], order: "ascending", limit: 9 });
}

/** A newer version of the engine opens the storage. */
export const upgradeChecks: StorageChecks = {
  "rows from before an upgrade have the fill values of the new columns": async (ports) => {
    const older = await ports.port(olderSchema);
    await write(older, insertNote("a", "red"), insertNote("b", "blue"));
    await older.close();
    const port = await ports.port(newerSchema);
    same(await newerNotesIn(port), [upgraded("a", "red"), upgraded("b", "blue")], "rows");
    const changed = { ...upgraded("b", "blue"), stars: 5, version: 2 };
    await write(port, {
      kind: "update",
      collection: newerNotes,
      key: ["b"],
      version: 1,
      row: changed,
      changed: ["stars"],
    });
    await write(port, {
      kind: "insert",
      collection: newerNotes,
      row: { ...upgraded("c", "green"), kind: "new", tags: [] },
    });
    await port.close();
    const again = await ports.port(newerSchema);
    same(
      await newerNotesIn(again),
      [upgraded("a", "red"), changed, { ...upgraded("c", "green"), kind: "new", tags: [] }],
      "rows after opening again",
    );
  },

  "new indexes have the rows from before an upgrade, and new collections take rows": async (
    ports,
  ) => {
    const older = await ports.port(olderSchema);
    await write(older, insertNote("b", "red"), insertNote("a", "red"));
    await older.close();
    const port = await ports.port(newerSchema);
    const [ofKind, ofKey] = await port.reader.get([
      { index: notesByKind, key: ["it's plain", null], limit: 9 },
      { index: newerNoteById, key: ["a"], limit: 1 },
    ]);
    same([ids(ofKind), ids(ofKey)], [["a", "b"], ["a"]], "rows from before, by their indexes");
    const [found] = await port.reader.search([
      { index: notesByBody, words: [{ word: "red", prefix: false }], limit: 9 },
    ]);
    const byWord = ids(found).toSorted((a, b) => String(a).localeCompare(String(b)));
    same(byWord, ["a", "b"], "rows from before, by a word");
    const remark: Write = {
      kind: "insert",
      collection: remarks,
      row: { id: "r", position: 0, version: 1 },
    };
    await write(port, remark);
    await failsAs(StorageConflict, () => write(port, remark), "a key that is taken");
    const [remarked] = await port.reader.get([{ index: remarkById, key: ["r"], limit: 1 }]);
    same(ids(remarked), ["r"], "rows of a new collection");
  },

  "a migration upgrades the storage as opening it does, and can be repeated": async (ports) => {
    await ports.migrate(olderSchema);
    const older = await ports.port(olderSchema);
    await write(older, insertNote("a", "red"));
    await older.close();
    for (let time = 0; time < 2; time++) await ports.migrate(newerSchema);
    await failsWith("storage_newer", () => ports.port(olderSchema), "opening with older code");
    await failsWith("storage_newer", () => ports.migrate(olderSchema), "migrating to an older one");
    same(await newerNotesIn(await ports.port(newerSchema)), [upgraded("a", "red")], "rows");
  },

  "code that is older than the storage is refused, and changes nothing": async (ports) => {
    const port = await ports.port(newerSchema);
    await write(port, { kind: "insert", collection: newerNotes, row: upgraded("a", "red") });
    await failsWith("storage_newer", () => ports.port(olderSchema), "opening with older code");
    const again = await ports.port(newerSchema);
    same(await newerNotesIn(again), [upgraded("a", "red")], "rows");
  },

  "engines that open an empty storage or upgrade it at once all succeed": async (ports) => {
    for (const schema of [olderSchema, newerSchema]) {
      const opened = await Promise.all(Array.from({ length: 3 }, () => ports.port(schema)));
      const [first] = opened;
      if (schema === olderSchema && first !== undefined) await write(first, insertNote("a", "red"));
      for (const port of opened) {
        const [rows] = await port.reader.get([{ index: noteById, key: ["a"], limit: 1 }]);
        same(ids(rows), ["a"], "the row, on every connection");
      }
      await Promise.all(opened.map((port) => port.close()));
    }
  },
};
