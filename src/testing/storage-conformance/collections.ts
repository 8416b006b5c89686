import {
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
  type Schema,
} from "../../ports/collection.ts";

/** A row of every type of column, with nulls in key columns. */
export interface Item {
  readonly id: string;
  readonly owner: string;
  readonly state: string;
  readonly rank: number | null;
  readonly label: string | null;
  readonly weight: number;
  readonly flag: boolean;
  readonly at: number;
  readonly data: unknown;
  readonly extra: unknown;
}

export const items = collection<Item>("conformance_items", {
  id: text,
  owner: text,
  state: text,
  rank: nullable(integer),
  label: nullable(text),
  weight: real,
  flag: boolean,
  at: time,
  data: json,
  extra: nullable(json),
});
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

export interface Place {
  readonly country: string;
  readonly town: string;
  readonly people: number;
}

export const places = collection<Place>("conformance_places", {
  country: text,
  town: text,
  people: integer,
});
export const placeByName = places.key("country", "town");

export interface Entry {
  readonly id: string;
  readonly topic: string;
  readonly body: string;
  readonly position: number;
}

export const entries = collection<Entry>("conformance_entries", {
  id: text,
  topic: text,
  body: text,
  position,
});
export const entryById = entries.key("id");
export const entriesByPosition = entries.index("by_position", ["position"]);
export const entriesByTopic = entries.index("by_topic", ["topic", "position"]);

export interface Sum {
  readonly day: string;
  readonly kind: string;
  readonly count: number;
  readonly cost: number;
}

export const sums = collection<Sum>(
  "conformance_sums",
  { day: text, kind: text, count: integer, cost: real },
  { kind: "counter" },
);
export const sumByDay = sums.key("day", "kind");

/** What is found by the words in it. */
export interface Book {
  readonly shelf: string;
  readonly id: string;
  readonly words: string | null;
  readonly pages: number;
}

export const books = collection<Book>("conformance_books", {
  shelf: text,
  id: text,
  words: nullable(text),
  pages: integer,
});
export const bookById = books.key("shelf", "id");
export const booksByWords = books.words("words", "words");

export const schema: Schema = schemaOf([items, places, entries, sums, books]);

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
