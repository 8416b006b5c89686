import { StorageConflict, type StoragePort, type Write } from "../../../../src/ports/index.ts";
import { failsAs, holds, same } from "../checks.ts";
import {
  entries,
  entriesByPosition,
  entry,
  item,
  itemById,
  items,
  schema,
  sumByDay,
  sums,
} from "./collections.ts";
import {
  allIds,
  byId,
  ids,
  idsInLog,
  insert,
  insertNew,
  log,
  rowsOf,
  update,
  write,
  type StorageChecks,
} from "./fixture.ts";

/** Version guards, groups, counters and logs, tested directly on the port. */
export const writeChecks: StorageChecks = {
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
    const row = item("a", { data: { n: 2 }, extra: [] });
    same(await rowsOf(port, byId("a")), [{ ...row, version: 2 }], "the row");
    // Commands that commit together may have changed the row several times.
    const changed = { ...row, state: "new", version: 5 };
    await write(port, {
      kind: "update",
      collection: items,
      key: ["a"],
      version: 2,
      row: changed,
      changed: ["state"],
    });
    same(await rowsOf(port, byId("a")), [changed], "the row after three changes at once");
  },

  "a new row has the version that its write names": async (ports) => {
    const port = await ports.port();
    await write(port, { kind: "insert", collection: items, row: { ...item("a"), version: 7 } });
    same(await rowsOf(port, byId("a")), [{ ...item("a"), version: 7 }], "the row");
    const outdated = update("a", 1, item("a", { state: "lost" }), "state");
    await failsAs(StorageConflict, () => write(port, outdated), "an update of version 1");
    await write(port, update("a", 7, item("a", { state: "new" }), "state"));
    same((await rowsOf(port, byId("a")))[0]?.["version"], 8, "the version after an update");
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

  "many new rows of a group are written in their order, or none if a key is taken": async (
    ports,
  ) => {
    const port = await ports.port();
    const all = Array.from("abcdefghijklmnopqrs");
    const writesOf = (names: readonly string[]): Write[] => [
      ...names.map((name) => log(name)),
      ...names.map((name) => insert(item(name))),
    ];
    await write(port, insert(item("m")));
    await failsAs(StorageConflict, () => write(port, ...writesOf(all)), "a taken key");
    same([await allIds(port), await idsInLog(port)], [["m"], []], "rows after a taken key");
    const others = all.filter((name) => name !== "m").toReversed();
    await write(port, ...writesOf(others));
    same([await allIds(port), await idsInLog(port)], [all, others], "rows at the end");
  },

  "a group of many commands is written, and its rows are read at once": async (ports) => {
    const port = await ports.port();
    // 128 commands commit together, with some writes each.
    const names = Array.from({ length: 600 }, (_, i) => `n${i}`);
    await write(port, ...names.map(insertNew));
    const lookups = names.map(byId);
    same((await port.reader.get(lookups)).flatMap(ids), names, "rows read");
    const group = port.begin();
    same((await group.read(lookups)).flatMap(ids), names, "rows read in a group");
    await group.commit(names.map((id) => update(id, 1, item(id, { state: "new" }), "state")));
    const range = { index: itemById, prefix: [], order: "ascending", limit: 999 } as const;
    const rows = await port.reader.range({ ...range, where: { id: names, state: "new" } });
    same(rows.length, names.length, "number of rows that were changed");
  },

  "an open group does not block other reads or commits": async (ports) => {
    const port = await ports.port();
    const other = await ports.port();
    const group = port.begin();
    await group.read([byId("a")]);
    await write(other, insert(item("a")));
    same(ids(await rowsOf(port, byId("a"))), ["a"], "what another committed meanwhile");
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

  "counters that two connections add to at once lose nothing": async (ports) => {
    const rounds = 40;
    const row = { day: "mon", kind: "sms", count: 1, cost: 0.5 };
    const addOften = async (port: StoragePort): Promise<void> => {
      for (let i = 0; i < rounds; i++) {
        await write(port, { kind: "add", collection: sums, row });
      }
    };
    const [port, other] = [await ports.port(), await ports.port()];
    await Promise.all([addOften(port), addOften(other)]);
    const [read] = await port.reader.get([{ index: sumByDay, key: ["mon", "sms"], limit: 1 }]);
    same(read, [{ ...row, count: 2 * rounds, cost: rounds }], "sums");
  },

  "a removed counter starts at zero again": async (ports) => {
    const port = await ports.port();
    const key = { day: "mon", kind: "sms" };
    const add: Write = { kind: "add", collection: sums, row: { ...key, count: 2, cost: 1 } };
    const remove: Write = { kind: "remove", collection: sums, key: ["mon", "sms"], version: 0 };
    await write(port, add);
    await write(port, remove);
    await failsAs(
      StorageConflict,
      () => write(port, remove),
      "a removal of a counter that is gone",
    );
    await write(port, add);
    const [read] = await port.reader.get([{ index: sumByDay, key: ["mon", "sms"], limit: 1 }]);
    same(read, [{ ...key, count: 2, cost: 1 }], "sums");
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
    holds(ascending, "positions that ascend from 1", positions);
  },

  "a row of a log keeps its position when it changes, and no later row gets it": async (ports) => {
    const port = await ports.port();
    const positionsOf = async (from: StoragePort): Promise<number[]> => {
      const index = entriesByPosition;
      const rows = await from.reader.range({ index, prefix: [], order: "ascending", limit: 9 });
      return rows.map((row) => Number(row["position"]));
    };
    await write(port, log("a"), log("b"));
    const [first = 0, second = 0] = await positionsOf(port);
    const changed = { ...entry("a"), position: first, body: "changed", version: 2 };
    const change = { collection: entries, key: ["a"], version: 1 };
    await write(port, { ...change, kind: "update", row: changed, changed: ["body"] });
    same(await positionsOf(port), [first, second], "positions after a change");
    await write(port, { kind: "remove", collection: entries, key: ["b"], version: 1 });
    await write(port, log("c"));
    const [, third = 0] = await positionsOf(port);
    holds(third > second, `a position above ${second}, that of the row that was removed`, third);
    await write(port, { kind: "remove", collection: entries, key: ["c"], version: 1 });
    await port.close();
    const again = await ports.port();
    await write(again, log("d"));
    const [, fourth = 0] = await positionsOf(again);
    holds(fourth > third, `a position above ${third} after opening again`, fourth);
  },

  "open and close are idempotent, and committed rows are there after a restart": async (ports) => {
    const port = await ports.port();
    await write(port, insert(item("a")));
    await port.close();
    await port.close();
    const again = await ports.port();
    same(await allIds(again), ["a"], "rows after opening again");
  },

  "two engines that close while a group is open both end with it": async (ports) => {
    const port = await ports.port();
    const group = port.begin();
    const first = port.close();
    await port.open(schema);
    const second = port.close();
    await group.commit([insert(item("a"))]);
    await Promise.all([first, second]);
    same(await allIds(await ports.port()), ["a"], "rows after opening again");
  },
};
