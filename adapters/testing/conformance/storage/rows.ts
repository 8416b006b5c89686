import {
  StorageConflict,
  StorageRefusal,
  type Row,
  type Write,
} from "../../../../src/ports/index.ts";
import { display, failsAs, holds, same } from "../checks.ts";
import {
  books,
  booksByWords,
  entries,
  entry,
  entryById,
  item,
  itemById,
  itemByLabel,
  items,
  itemsByFlag,
  itemsByRank,
  openItems,
  placeByName,
  seatOfGuest,
  seats,
} from "./collections.ts";
import {
  allIds,
  broken,
  byId,
  ids,
  insert,
  place,
  rowsOf,
  update,
  write,
  type StorageChecks,
} from "./fixture.ts";

/** Changes a row and its JSON. A storage may freeze the rows that it returns. */
function spoil(row: Row): void {
  try {
    Object.assign(row, { state: "spoiled", pages: 9 });
    const { data } = row;
    if (typeof data === "object" && data !== null && "list" in data && Array.isArray(data.list)) {
      data.list.push(2);
    }
  } catch (error) {
    holds(error instanceof TypeError, "a TypeError of a frozen row, or no error", error);
  }
}

/** Values, keys and look-ups, tested directly on the port. */
export const rowChecks: StorageChecks = {
  "values of every type are read as they were written": async (ports) => {
    const port = await ports.port();
    const rows = [
      item("plain"),
      item("", { owner: "", state: "", label: "" }),
      item("spaces ", { owner: " anna ", state: "\t", label: " " }),
      item("combined", { owner: "e\u0301", state: "\u212b" }),
      item("unicode", { owner: "Zoë", state: "日本", label: "😀 👩‍👩‍👧 \u{10ffff}" }),
      item("nul", { label: "a\0b\0", state: "\u0001\n\r\t\"'\\%_" }),
      item("numbers", {
        rank: Number.MAX_SAFE_INTEGER,
        at: Number.MIN_SAFE_INTEGER,
        weight: Number.MAX_VALUE,
      }),
      item("small", { rank: -1, weight: Number.MIN_VALUE, flag: true }),
      item("fraction", { weight: 0.1 + 0.2, rank: 0 }),
      item("json", {
        data: {
          nested: [{ deep: [[], {}, null, true, 1.5, "é\0😀"] }],
          "": 0,
          'key with "quotes"': "\u2028",
        },
        extra: [1, [2, [3]]],
      }),
      item("bare json", { data: "text", extra: false }),
      item("long", { data: "x".repeat(100_000), label: "y".repeat(10_000) }),
    ];
    await write(port, ...rows.map(insert));
    const found = await port.reader.get(rows.map(({ id }) => byId(id)));
    same(
      found,
      rows.map((row) => [{ ...row, version: 1 }]),
      "rows read",
    );
    const group = port.begin();
    same(await group.read(rows.map(({ id }) => byId(id))), found, "rows read in a group");
    await group.abort();
    const all = { index: itemById, prefix: [], order: "ascending", limit: rows.length } as const;
    same(
      await port.reader.range(all),
      found.flat().toSorted((a, b) => (String(a["id"]) < String(b["id"]) ? -1 : 1)),
      "rows of a range",
    );
    const long = "Zoë 😀 ".repeat(20_000);
    const logged = { ...entry("long"), body: long, version: 1 };
    await write(port, { kind: "insert", collection: entries, row: logged });
    const [row] = await rowsOf(port, { index: entryById, key: ["long"], limit: 1 });
    same(String(row?.["body"]).length, long.length, "length of a long text that is in no index");
  },

  "mutating a row that was read or written does not change the stored row": async (ports) => {
    const port = await ports.port();
    const written = { ...item("a", { data: { list: [1] } }), version: 1 };
    const volume = { shelf: "a", id: "b", words: "red", pages: 1, version: 1 };
    await write(
      port,
      { kind: "insert", collection: items, row: written },
      { kind: "insert", collection: books, row: volume },
    );
    const stored = structuredClone(written);
    spoil(written);
    const read = async (): Promise<readonly Row[]> => rowsOf(port, byId("a"));
    const ranged = (): Promise<readonly Row[]> =>
      port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 1 });
    for (const [what, find] of [
      ["a look-up", read],
      ["a range", ranged],
    ] as const) {
      for (const row of await find()) spoil(row);
      same(await read(), [stored], `the row after one of ${what} was changed`);
    }
    const searched = async (): Promise<readonly Row[] | undefined> => {
      const words = [{ word: "red", prefix: false }];
      return (await port.reader.search([{ index: booksByWords, words, limit: 1 }]))[0];
    };
    for (const row of (await searched()) ?? []) spoil(row);
    same(await searched(), [volume], "the row after one of a search was changed");
  },

  "a value that its column cannot hold is refused permanently, with its whole group": async (
    ports,
  ) => {
    const port = await ports.port();
    const misfits: (readonly [column: string, value: unknown])[] = [
      ["id", null],
      ["owner", null],
      ["owner", 1],
      ["owner", undefined],
      ["owner", "half a \ud83d"],
      ["at", 1.5],
      ["at", 2 ** 53],
      ["at", Number.NaN],
      ["weight", Number.NaN],
      ["weight", "1"],
      ["flag", 1],
      ["rank", true],
      ["data", undefined],
      ["data", 1n],
    ];
    for (const [column, value] of misfits) {
      const row = { ...item("misfit"), version: 1, [column]: value };
      const writes = [insert(item("good")), broken(items, row)];
      const what = `a row with the ${column} ${display(value)}`;
      await failsAs(StorageRefusal, () => write(port, ...writes), what);
    }
    same(await allIds(port), [], "rows left");
  },

  "a lookup returns the rows with a full key or a prefix, in index order": async (ports) => {
    const port = await ports.port();
    const towns = [
      ["de", "Ulm"],
      ["de", "Aachen"],
      ["at", "Wien"],
      ["de", "Ulm-Süd"],
      ["d", "e"],
    ] as const;
    await write(port, ...towns.map(([country, town]) => place(country, town)));
    const [under, whole, none, two] = await port.reader.get([
      { index: placeByName, key: ["de"], limit: 10 },
      { index: placeByName, key: ["de", "Ulm"], limit: 10 },
      { index: placeByName, key: ["de", "Ul"], limit: 10 },
      { index: placeByName, key: ["de"], limit: 2 },
    ]);
    same(
      under?.map(({ town }) => town),
      ["Aachen", "Ulm", "Ulm-Süd"],
      "under a prefix",
    );
    same(
      whole?.map(({ town }) => town),
      ["Ulm"],
      "under a whole key",
    );
    same(none, [], "under a part of a value");
    same(
      two?.map(({ town }) => town),
      ["Aachen", "Ulm"],
      "with a limit",
    );
  },

  "null is a distinct key and sorts before every value": async (ports) => {
    const port = await ports.port();
    await write(
      port,
      insert(item("a", { rank: 0 })),
      insert(item("b", { rank: null, label: "x" })),
      insert(item("c", { rank: null })),
      insert(item("d", { rank: -5 })),
    );
    const [all, nulls, both] = await port.reader.get([
      { index: itemsByRank, key: ["anna"], limit: 10 },
      { index: itemsByRank, key: ["anna", null], limit: 10 },
      { index: itemsByRank, key: ["anna", null, null], limit: 10 },
    ]);
    same(ids(all), ["c", "b", "d", "a"], "in order");
    same(ids(nulls), ["c", "b"], "under null");
    same(ids(both), ["c"], "under two nulls");
  },

  "text sorts by code point, and false sorts before true": async (ports) => {
    const port = await ports.port();
    const names = [
      "",
      "A",
      "Z",
      "a",
      "a\0",
      "a ",
      "a!",
      "e\u0301",
      "é",
      "\ud7ff",
      "\uff01",
      "\u{1f600}",
      "\u{10ffff}",
    ];
    await write(
      port,
      ...names.toReversed().map((name, i) => insert(item(name, { flag: i % 2 === 0 }))),
    );
    same(await allIds(port), names, "names in order");
    const flags = await port.reader.range({
      index: itemsByFlag,
      prefix: [],
      order: "descending",
      limit: 20,
    });
    same(
      flags.map(({ flag }) => Number(flag)).join(""),
      "1111111000000",
      "flags in descending order",
    );
    const [flagged] = await port.reader.get([{ index: itemsByFlag, key: [true], limit: 20 }]);
    same(flagged?.length, 7, "rows under true");
  },

  "a partial index has exactly the rows that match its condition, also after changes": async (
    ports,
  ) => {
    const port = await ports.port();
    const held = item("b", { state: "it's held" });
    await write(port, insert(item("a")), insert(held), insert(item("c", { state: "closed" })));
    const open = async (): Promise<unknown[]> =>
      ids(await rowsOf(port, { index: openItems, key: ["anna"], limit: 9 }));
    same(await open(), ["a", "b"], "open rows");
    await write(
      port,
      update("a", 1, item("a", { state: "closed" }), "state"),
      update("c", 1, item("c"), "state"),
    );
    same(await open(), ["b", "c"], "open rows, after they changed");
  },

  "a unique key has one row, and null is not unique": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a", { label: "x" })), insert(item("b")), insert(item("c")));
    await failsAs(StorageConflict, () => write(port, insert(item("a"))), "the primary key again");
    await failsAs(
      StorageConflict,
      () => write(port, insert(item("d", { label: "x" }))),
      "a unique key again",
    );
    const onto = update("b", 1, item("b", { label: "x" }), "label");
    await failsAs(StorageConflict, () => write(port, onto), "moving onto a unique key");
    await write(port, insert(item("d", { label: "x", owner: "bert" })));
    await write(port, insert(item("zero", { rank: 0, label: "z", owner: "bert" })));
    const again = insert(item("e", { rank: 0, label: "z" }));
    await failsAs(StorageConflict, () => write(port, again), "a unique key of values alone");
    const [found] = await port.reader.get([{ index: itemByLabel, key: ["anna", "x"], limit: 1 }]);
    same(ids(found), ["a"], "the row under the unique key");
    const alike = ["X", "x ", " x", "x\0", "e\u0301", "é", "E"];
    await write(port, ...alike.map((label) => insert(item(`like ${label}`, { label }))));
    await write(
      port,
      update("a", 1, item("a", { label: null }), "label"),
      insert(item("e", { label: "x" })),
    );
    const [freed] = await port.reader.get([{ index: itemByLabel, key: ["anna", "x"], limit: 1 }]);
    same(ids(freed), ["e"], "the row under a key that was freed in the same group");
  },

  "a unique key of a partial index is unique among the rows that match its condition": async (
    ports,
  ) => {
    const port = await ports.port();
    const seat = (id: string, state: string, version = 1): Row => ({
      id,
      guest: "anna",
      state,
      version,
    });
    const sit = (id: string, state: string): Write => ({
      kind: "insert",
      collection: seats,
      row: seat(id, state),
    });
    const change = (id: string, state: string): Write => ({
      kind: "update",
      collection: seats,
      key: [id],
      version: 1,
      row: seat(id, state, 2),
      changed: ["state"],
    });
    await write(port, sit("a", "left"), sit("b", "left"), sit("c", "taken"));
    await failsAs(StorageConflict, () => write(port, sit("d", "it's held")), "a taken key");
    const taking = change("a", "taken");
    await failsAs(StorageConflict, () => write(port, taking), "a change that makes a row match");
    await write(port, change("c", "left"));
    await write(port, taking);
    const [rows] = await port.reader.get([{ index: seatOfGuest, key: ["anna"], limit: 9 }]);
    same(ids(rows), ["a"], "rows under the key");
  },
};
