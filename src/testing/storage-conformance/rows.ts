import {
  type Collection,
  type Lookup,
  type Row,
  StorageConflict,
  type StoragePort,
  StorageRefusal,
  type Write,
} from "../../ports/index.ts";
import {
  entries,
  entriesByPosition,
  entry,
  type Item,
  item,
  itemById,
  itemByLabel,
  items,
  itemsByFlag,
  itemsByRank,
  openItems,
  placeByName,
  places,
  sumByDay,
  sums,
} from "./collections.ts";
import { type Cases, failsAs, holds, same, write } from "./harness.ts";

const insert = (row: Item): Write => ({
  kind: "insert",
  collection: items,
  row: { ...row, version: 1 },
});
const place = (country: string, town: string): Write => ({
  kind: "insert",
  collection: places,
  row: { country, town, people: 1, version: 1 },
});
const update = (id: string, version: number, row: Item, ...changed: string[]): Write => ({
  kind: "update",
  collection: items,
  key: [id],
  version,
  row: { ...row, version: version + 1 },
  changed,
});
const log = (id: string): Write => ({
  kind: "insert",
  collection: entries,
  row: { ...entry(id), version: 1 },
});
const byId = (id: string): Lookup => ({ index: itemById, key: [id], limit: 1 });
const first = async (port: StoragePort, lookup: Lookup): Promise<readonly Row[]> => {
  const [rows = []] = await port.reader.get([lookup]);
  return rows;
};
const allIds = async (port: StoragePort): Promise<unknown[]> =>
  ids(await port.reader.range({ index: itemById, prefix: [], order: "ascending", limit: 20 }));
const ids = (rows: readonly Row[] | undefined): unknown[] => (rows ?? []).map(({ id }) => id);
/** Inserts a row that violates its type, like a bug. */
const broken = (collection: Collection, row: Row): Write => ({ kind: "insert", collection, row });

/** Values, keys, guards, counters and logs, tested directly on the port. */
export const rowCases: Cases = {
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
    const read = async (): Promise<Row> => (await first(port, byId("a")))[0] ?? {};
    const row = await read();
    try {
      Object.assign(row, { state: "spoiled" });
      const { data } = row;
      if (typeof data === "object" && data !== null && "list" in data && Array.isArray(data.list)) {
        data.list.push(2);
      }
    } catch (error) {
      holds(error instanceof TypeError, "only a frozen row may throw when it is mutated");
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
      ids(await first(port, { index: openItems, key: ["anna"], limit: 9 }));
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

  "an update writes the changed columns and the version": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a", { data: { n: 1 }, label: "x" })));
    await write(
      port,
      update(
        "a",
        1,
        item("a", { data: { n: 2 }, label: null, extra: [] }),
        "data",
        "extra",
        "label",
      ),
    );
    same(
      await first(port, byId("a")),
      [{ ...item("a", { data: { n: 2 }, extra: [] }), version: 2 }],
      "the row",
    );
  },

  "a guard that fails refuses the whole group": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a")));
    await write(port, update("a", 1, item("a", { state: "new" }), "state"));
    const add: Write = {
      kind: "add",
      collection: sums,
      row: { day: "today", kind: "x", count: 1, cost: 1 },
    };
    const change = update("a", 2, item("a", { state: "half" }), "state");
    const stale: [what: string, refused: Write, ...others: Write[]][] = [
      ["an outdated update", update("a", 1, item("a", { state: "lost" }), "state")],
      ["an outdated removal", { kind: "remove", collection: items, key: ["a"], version: 1 }],
      ["an outdated hold", { kind: "hold", collection: items, key: ["a"], version: 1 }],
      ["a key that is taken", insert(item("a"))],
      ["an update of a row that is gone", update("gone", 1, item("gone"), "state"), change],
      [
        "a removal of a row that is gone",
        { kind: "remove", collection: items, key: ["gone"], version: 1 },
        change,
      ],
      [
        "a hold of a row that is gone",
        { kind: "hold", collection: items, key: ["gone"], version: 1 },
        change,
      ],
    ];
    for (const [what, refused, ...others] of stale) {
      await failsAs(
        StorageConflict,
        () => write(port, insert(item("b")), add, log("e"), ...others, refused),
        what,
      );
      const read = await port.reader.get([
        byId("a"),
        byId("b"),
        { index: sumByDay, key: ["today", "x"], limit: 1 },
        { index: entriesByPosition, key: [], limit: 9 },
      ]);
      same(
        read,
        [[{ ...item("a", { state: "new" }), version: 2 }], [], [], []],
        `rows after ${what}`,
      );
    }
    const held: Write = { kind: "hold", collection: items, key: ["a"], version: 2 };
    await write(port, held, insert(item("b")));
    await write(port, { kind: "remove", collection: items, key: ["a"], version: 2 });
    same(await allIds(port), ["b"], "rows at the end");
  },

  "an open group does not block other reads or commits": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    const group = port.begin();
    await group.read([byId("a")]);
    await write(other, insert(item("a")));
    same(ids(await first(port, byId("a"))), ["a"], "what another committed meanwhile");
    await group.commit([insert(item("b"))]);
    same(await allIds(other), ["a", "b"], "rows of both");
  },

  "an aborted group writes nothing, and a group can be aborted after a failed commit": async (
    ports,
  ) => {
    const port = await ports.port();
    const group = port.begin();
    await group.read([byId("a")]);
    await group.abort();
    const refused = port.begin();
    await refused.read([byId("a")]);
    await failsAs(
      StorageConflict,
      () => refused.commit([update("a", 1, item("a"), "state")]),
      "a commit",
    );
    await refused.abort();
    await write(port, insert(item("a")));
    same(await allIds(port), ["a"], "rows of the next group");
  },

  "counters start at zero and add up": async (ports) => {
    const port = await ports.port();
    const add = (day: string, count: number, cost: number): Write => ({
      kind: "add",
      collection: sums,
      row: { day, kind: "sms", count, cost },
    });
    await write(port, add("mon", 2, 0.5), add("tue", 1, 0));
    await write(port, add("mon", 3, 0.25));
    await write(port, add("mon", -1, 0));
    const read = await port.reader.range({
      index: sumByDay,
      prefix: [],
      order: "ascending",
      limit: 9,
    });
    same(
      read,
      [
        { day: "mon", kind: "sms", count: 4, cost: 0.75 },
        { day: "tue", kind: "sms", count: 1, cost: 0 },
      ],
      "sums",
    );
  },

  "a log's rows get ascending positions in the order of their commits": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    await write(port, log("c"), log("a"));
    await write(other, log("b"));
    await failsAs(
      StorageConflict,
      () => write(port, log("x"), log("a")),
      "a log row with a key that is taken",
    );
    await write(port, log("d"));
    const rows = await port.reader.range({
      index: entriesByPosition,
      prefix: [],
      order: "ascending",
      limit: 9,
    });
    same(ids(rows), ["c", "a", "b", "d"], "rows by position");
    const positions = rows.map((row) => Number(row["position"]));
    const ascending = positions.every((at, i) => at > (positions[i - 1] ?? 0));
    holds(ascending, `positions ascend from 1, not ${positions.join()}`);
  },

  "open and close are idempotent, and committed rows are there after a restart": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a")));
    await port.close();
    await port.close();
    const again = await ports.port();
    same(await allIds(again), ["a"], "rows after opening again");
  },
};
