import { schemaOf, type RowOf } from "../../../src/ports/collection.ts";
import {
  added,
  collection,
  integer,
  json,
  nullable,
  position,
  text,
} from "../../../src/ports/define-collection.ts";
import type { Row, StoragePort, Write } from "../../../src/ports/storage.ts";

/** A collection in two versions of the code, and what only the later one has. */
export const firstNotes = collection("notes", { id: text(), text: text(), count: integer() });
type Note = RowOf<typeof firstNotes>;
export const noteById = firstNotes.key("id");
firstNotes.index("by_text", ["text"]);
export const firstSchema = schemaOf([firstNotes]);

export const laterNotes = collection("notes", {
  id: text(),
  text: text(),
  count: integer(),
  kind: added(2, text(), "it's plain"),
  tags: added(2, json<unknown>(), "[]"),
  stars: added(2, nullable(integer())),
});
export const laterNoteById = laterNotes.key("id");
laterNotes.index("by_text", ["text"]);
laterNotes.index("by_kind", ["kind", "stars"], {
  since: 2,
  where: { column: "kind", in: ["it's plain", "starred"] },
});
const columns = { id: added(2, text()), position: added(2, position()) };
const additions = collection("additions", columns, { since: 2 });
additions.key("id");
export const secondSchema = schemaOf([laterNotes, additions]);

export function insertNote(id: string, body = "text"): Write {
  return { kind: "insert", collection: firstNotes, row: { id, text: body, count: 0, version: 1 } };
}

export function updateNote(row: Row, patch: Partial<Note>): Write {
  const version = Number(row["version"]);
  return {
    kind: "update",
    collection: firstNotes,
    key: [String(row["id"])],
    version,
    row: { ...row, ...patch, version: version + 1 },
    changed: Object.keys(patch),
  };
}

/** Returns the ids of all notes. */
export async function notes(port: StoragePort): Promise<unknown[]> {
  const rows = await port.reader.range({
    index: noteById,
    prefix: [],
    order: "ascending",
    limit: 100_000,
  });
  return rows.map(({ id }) => id);
}
