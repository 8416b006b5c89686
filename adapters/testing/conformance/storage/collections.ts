import {
  added,
  boolean,
  collection,
  integer,
  json,
  nullable,
  position,
  real,
  schemaOf,
  text,
  time,
  type RowOf,
  type Schema,
} from "../../../../src/ports/index.ts";

/** Has a column of every type, and nulls in key columns. Its rows can be locked. */
export const items = collection(
  "conformance_items",
  {
    id: text(),
    owner: text(),
    state: text(),
    rank: nullable(integer()),
    label: nullable(text()),
    weight: real(),
    flag: boolean(),
    at: time(),
    data: json<unknown>(),
    extra: nullable(json<unknown>()),
  },
  { kind: "queue" },
);
export interface Item extends RowOf<typeof items> {}

export const itemById = items.key("id");
export const itemsByTime = items.index("by_time", ["owner", "at"]);
export const itemsByRank = items.index("by_rank", ["owner", "rank", "label"]);
export const itemsByFlag = items.index("by_flag", ["flag", "weight"]);
export const openItems = items.index("open", ["owner", "at"], {
  where: { column: "state", in: ["open", "it's held"] },
});
export const itemByLabel = items.unique("by_label", ["owner", "label"], {
  where: { column: "label", present: true },
});
export const itemOfAKind = items.unique("one_of_a_kind", ["state", "rank", "label"]);

export const places = collection("conformance_places", {
  country: text(),
  town: text(),
  people: integer(),
});
export interface Place extends RowOf<typeof places> {}

export const placeByName = places.key("country", "town");

export const entries = collection("conformance_entries", {
  id: text(),
  topic: text(),
  body: text(),
  position: position(),
});
export interface Entry extends RowOf<typeof entries> {}

export const entryById = entries.key("id");
export const entriesByPosition = entries.index("by_position", ["position"]);
export const entriesByTopic = entries.index("by_topic", ["topic", "position"]);

export const sums = collection(
  "conformance_sums",
  {
    day: text(),
    kind: text(),
    count: integer(),
    cost: real(),
  },
  { kind: "counter" },
);

export const sumByDay = sums.key("day", "kind");

/** Has a word index. */
export const books = collection("conformance_books", {
  shelf: text(),
  id: text(),
  words: nullable(text()),
  pages: integer(),
});
export interface Book extends RowOf<typeof books> {}

export const bookById = books.key("shelf", "id");
export const booksByWords = books.words("words", "words");

/** Has a unique index that only some of its rows are in. */
export const seats = collection("conformance_seats", { id: text(), guest: text(), state: text() });
export const seatById = seats.key("id");
export const seatOfGuest = seats.unique("of_guest", ["guest"], {
  where: { column: "state", in: ["taken", "it's held"] },
});

export const schema: Schema = schemaOf([items, places, entries, sums, books, seats]);

/** The notes of an older version of the code. */
export const notes = collection("conformance_notes", { id: text(), body: nullable(text()) });
export const noteById = notes.key("id");
export const olderSchema: Schema = schemaOf([notes]);

/** The notes of a newer version, which has more columns and indexes, and another collection. */
export const newerNotes = collection("conformance_notes", {
  id: text(),
  body: nullable(text()),
  kind: added(2, text(), "it's plain"),
  stars: added(2, nullable(integer())),
  pinned: added(2, boolean(), false),
  tags: added(2, json<unknown>(), '["new"]'),
});
export const newerNoteById = newerNotes.key("id");
export const notesByKind = newerNotes.index("by_kind", ["kind", "stars"], { since: 2 });
export const notesByBody = newerNotes.words("words", "body", { since: 2 });
export const remarks = collection(
  "conformance_remarks",
  { id: added(2, text()), position: added(2, position()) },
  { since: 2 },
);
export const remarkById = remarks.key("id");
export const newerSchema: Schema = schemaOf([newerNotes, remarks]);

export function item(id: string, patch: Partial<Item> = {}): Item {
  const nulls = { rank: null, label: null, extra: null };
  return {
    id,
    owner: "anna",
    state: "open",
    weight: 0,
    flag: false,
    at: 0,
    data: {},
    ...nulls,
    ...patch,
  };
}

export function entry(id: string, topic = "news"): Entry {
  return { id, topic, body: `about ${id}`, position: 0 };
}
