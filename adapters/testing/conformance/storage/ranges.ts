import type { Index, KeyValue, Range, Row } from "../../../../src/ports/index.ts";
import { Dice } from "../../simulated/dice.ts";
import { same } from "../checks.ts";
import {
  entries,
  entriesByPosition,
  entriesByTopic,
  entry,
  entryById,
  item,
  itemById,
  itemByLabel,
  itemOfAKind,
  items,
  itemsByFlag,
  itemsByRank,
  itemsByTime,
  openItems,
  type Item,
} from "./collections.ts";
import { ids, write, type StorageChecks } from "./fixture.ts";

/** Compares ranges and lookups with a plain filter and sort of the same rows. */
export const rangeChecks: StorageChecks = {
  "a range or lookup returns what sorting and filtering all rows returns": async (ports) => {
    const port = await ports.port();
    const dice = new Dice(1);
    const rows = Array.from({ length: 120 }, (_, i) => ({ ...someItem(dice, i), version: 1 }));
    await write(port, ...rows.map((row) => ({ kind: "insert", collection: items, row }) as const));
    const indexes = [
      itemById,
      itemsByTime,
      itemsByRank,
      itemsByFlag,
      openItems,
      itemByLabel,
      itemOfAKind,
    ] as const;
    for (let round = 0; round < 600; round++) {
      const range = someRange(dice, dice.pick(indexes), rows);
      same(
        ids(await port.reader.range(range)),
        ids(expected(range, rows)),
        `range ${round}: ${described(range)}`,
      );
      const { index, prefix: key, order, limit } = range;
      const [ascending = [], inOrder = []] = await port.reader.get([
        { index, key, limit },
        { index, key, order, limit },
      ]);
      const wanted = { index, prefix: key, order: "ascending", limit } as const;
      const text = `lookup ${round}: ${described(range)}`;
      same(ids(ascending), ids(expected(wanted, rows)), text);
      same(ids(inOrder), ids(expected({ ...wanted, order }, rows)), text);
    }
  },

  "a range of a log returns what sorting and filtering all rows returns": async (ports) => {
    const port = await ports.port();
    const dice = new Dice(2);
    for (let i = 0; i < 10; i++) {
      const topic = dice.pick(["news", "talk"]);
      const rows = Array.from({ length: 4 }, (_, j) =>
        entry(`e${dice.between(0, 999)}-${i}-${j}`, topic),
      );
      await write(
        port,
        ...rows.map(
          (row) => ({ kind: "insert", collection: entries, row: { ...row, version: 1 } }) as const,
        ),
      );
    }
    const rows = await port.reader.range({
      index: entriesByPosition,
      prefix: [],
      order: "ascending",
      limit: 99,
    });
    for (let round = 0; round < 200; round++) {
      const range = someRange(
        dice,
        dice.pick([entryById, entriesByPosition, entriesByTopic]),
        rows,
      );
      same(
        ids(await port.reader.range(range)),
        ids(expected(range, rows)),
        `range ${round}: ${described(range)}`,
      );
    }
  },

  "a range whose filter matches no row is empty": async (ports) => {
    const port = await ports.port();
    await write(port, { kind: "insert", collection: items, row: { ...item("a"), version: 1 } });
    const range: Range = {
      index: itemsByTime,
      prefix: ["anna"],
      order: "descending",
      where: { state: [] },
      limit: 5,
    };
    same(await port.reader.range(range), [], "rows with a state of an empty list");
    same(await port.reader.range({ ...range, where: {}, limit: 0 }), [], "no rows");
  },
};

const names = ["", "a", "b", "é", "\uff01", "\u{1f600}"] as const;

function someItem(dice: Dice, i: number): Item {
  return item(`${dice.pick(names)}${i}`, {
    owner: dice.pick(["anna", "bert"]),
    state: dice.pick(["open", "it's held", "closed"]),
    rank: dice.pick([null, -1, 0, 1, 2]),
    label: dice.pick([null, null, `${dice.pick(names)}${i}`]),
    weight: dice.pick([-0.5, 0, 1, 1e300]),
    flag: dice.pick([true, false]),
    at: dice.between(0, 19),
  });
}

function someRange(dice: Dice, index: Index, rows: readonly Row[]): Range {
  const columns = orderOf(index);
  const length = dice.between(0, index.columns.length);
  const tuple = (from: number, count: number): KeyValue[] => {
    // Mostly the position of a row, sometimes a mixture of two rows.
    const row = dice.pick(rows) ?? {};
    return columns
      .slice(from, from + count)
      .map((column) => valueOf(dice.chance(3 / 4) ? row : (dice.pick(rows) ?? {}), column));
  };
  const bound = (): KeyValue[] => tuple(length, dice.between(1, columns.length - length));
  const bounded = columns.length > length;
  return {
    index,
    prefix: tuple(0, length),
    order: dice.pick(["ascending", "descending"]),
    ...(bounded && dice.chance(1 / 2) && { after: bound() }),
    ...(bounded && dice.chance(1 / 3) && { until: bound() }),
    ...(index.collection === items && dice.chance(1 / 3) && { where: someFilter(dice) }),
    ...(dice.chance(1 / 3) && { skip: dice.pick([0, 1, 3, 20, 1_000]) }),
    limit: dice.pick([1, 2, 5, 1_000]),
  };
}

function someFilter(dice: Dice): NonNullable<Range["where"]> {
  return dice.pick([
    { state: "open" },
    { state: ["closed", "open"], flag: true },
    { rank: null },
    { rank: [null, 1, 2] },
    { flag: [true, false], owner: "anna" },
  ]);
}

/** The contract of the port, implemented in the simplest way. */
function expected(
  { index, prefix, order, after, until, where = {}, skip = 0, limit }: Range,
  rows: readonly Row[],
): Row[] {
  const columns = orderOf(index);
  const open = columns.slice(prefix.length);
  const sign = order === "ascending" ? 1 : -1;
  const against = (row: Row, tuple: readonly KeyValue[]): number =>
    sign *
    compareTuples(
      tuple.map((_, i) => valueOf(row, open[i] ?? "")),
      tuple,
    );
  return rows
    .filter(
      (row) =>
        covered(index, row) && prefix.every((value, i) => valueOf(row, columns[i] ?? "") === value),
    )
    .filter((row) => after === undefined || against(row, after) > 0)
    .filter((row) => until === undefined || against(row, until) < 0)
    .filter((row) =>
      Object.entries(where).every(([column, wanted]) =>
        [wanted].flat().includes(valueOf(row, column)),
      ),
    )
    .toSorted(
      (a, b) =>
        sign *
        compareTuples(
          columns.map((c) => valueOf(a, c)),
          columns.map((c) => valueOf(b, c)),
        ),
    )
    .slice(skip, skip + limit);
}

function covered({ where }: Index, row: Row): boolean {
  if (where === undefined) return true;
  const value = valueOf(row, where.column);
  return "in" in where ? where.in.includes(String(value)) : value !== null;
}

function orderOf({ columns, collection }: Index): string[] {
  return [...columns, ...collection.primary.columns.filter((column) => !columns.includes(column))];
}

function valueOf(row: Row, column: string): KeyValue {
  const value = row[column];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : null;
}

function compareTuples(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    if (typeof left !== "string" || typeof right !== "string") return Number(left) - Number(right);
    return compareText([...left], [...right]);
  }
  return 0;
}

function compareText(a: readonly string[], b: readonly string[]): number {
  for (const [i, left] of a.entries()) {
    const difference = (left.codePointAt(0) ?? 0) - (b[i]?.codePointAt(0) ?? -1);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function described({ index, ...range }: Range): string {
  return `${index.name} ${JSON.stringify(range)}`;
}
