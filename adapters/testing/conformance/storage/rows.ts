import { type Row, StorageConflict, StorageRefusal } from "../../../../src/ports/index.ts";
import {
  item,
  itemByLabel,
  items,
  itemsByFlag,
  itemsByRank,
  openItems,
  placeByName,
} from "./collections.ts";
import { failsAs, holds, same } from "../checks.ts";
import {
  allIds,
  broken,
  byId,
  type StorageChecks,
  rowsOf,
  ids,
  insert,
  place,
  update,
  write,
} from "./fixture.ts";

/** Values, keys and look-ups, tested directly on the port. */
export const rowChecks: StorageChecks = {
  "values of every type are read as they were written": async (ports) => {
    const port = await ports.port();
    const rows = [
      item("plain"),
      item("", { owner: "", state: "" }),
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
    same(await group.read([byId("json")]), [[{ ...rows[7], version: 1 }]], "read in a group");
    await group.abort();
  },

  "mutating a row that was read does not change the stored row": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a", { data: { list: [1] } })));
    const read = async (): Promise<Row> => (await rowsOf(port, byId("a")))[0] ?? {};
    const row = await read();
    try {
      Object.assign(row, { state: "spoiled" });
      const { data } = row;
      if (typeof data === "object" && data !== null && "list" in data && Array.isArray(data.list)) {
        data.list.push(2);
      }
    } catch (error) {
      holds(error instanceof TypeError, "a TypeError of a frozen row, or no error", error);
    }
    same(await read(), { ...item("a", { data: { list: [1] } }), version: 1 }, "the row read again");
  },

  "a value that its column cannot hold is refused permanently, with its whole group": async (
    ports,
  ) => {
    const port = await ports.port();
    const misfits: Record<string, unknown>[] = [
      { id: null },
      { owner: null },
      { owner: 1 },
      { owner: undefined },
      { owner: "half a \ud83d" },
      { at: 1.5 },
      { at: 2 ** 53 },
      { at: Number.NaN },
      { weight: Number.NaN },
      { weight: "1" },
      { flag: 1 },
      { rank: true },
      { data: undefined },
      { data: 1n },
    ];
    for (const misfit of misfits) {
      const row = { ...item("misfit"), version: 1, ...misfit };
      const writes = [insert(item("good")), broken(items, row)];
      await failsAs(
        StorageRefusal,
        () => write(port, ...writes),
        `a row with a bad ${Object.keys(misfit).join()}`,
      );
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
      "a!",
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
      "11111100000",
      "flags in descending order",
    );
    const [flagged] = await port.reader.get([{ index: itemsByFlag, key: [true], limit: 20 }]);
    same(flagged?.length, 6, "rows under true");
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
    await write(
      port,
      update("a", 1, item("a", { label: null }), "label"),
      insert(item("e", { label: "x" })),
    );
    const [freed] = await port.reader.get([{ index: itemByLabel, key: ["anna", "x"], limit: 1 }]);
    same(ids(freed), ["e"], "the row under a key that was freed in the same group");
  },
};
