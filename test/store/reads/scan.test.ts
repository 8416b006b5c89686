import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  item,
  items,
  itemsByRank,
  itemsByTime,
  schema,
  type Item,
} from "../../../adapters/testing/conformance/storage/collections.ts";
import type { KeyValue, Seen } from "../../../src/ports/collection.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import {
  unscopedReads as readsOf,
  type RangeOf,
  type UnscopedReads,
} from "../../../src/store/reads/reads.ts";
import { scan, type RowFilter, type Scan } from "../../../src/store/reads/scan.ts";
import { runsOn } from "../../support/runs.ts";
import { storages } from "../../support/storage/storages.ts";

type FilteredRange = Omit<RangeOf<Item>, "limit"> & RowFilter<Item>;

const filter = fc.constantFrom<NonNullable<FilteredRange["where"]>>(
  { state: "open" },
  { state: ["open", "held"], flag: true },
  { rank: [null, 2] },
  { rank: null, flag: false },
  { state: "nowhere" },
  { state: [] },
  {},
);
const filteredRange: fc.Arbitrary<FilteredRange> = fc.record(
  {
    index: fc.constantFrom(itemsByTime, itemsByRank),
    prefix: fc.constant(["anna"]),
    order: fc.constantFrom("ascending" as const, "descending" as const),
    where: filter,
    keep: fc.constantFrom<NonNullable<FilteredRange["keep"]>>(
      ({ at }) => at > 4,
      ({ flag }) => flag,
      () => false,
    ),
  },
  { requiredKeys: ["index", "prefix", "order", "where"] },
);
const rows = fc
  .array(
    fc.record({
      owner: fc.constantFrom("anna", "anna", "bert"),
      state: fc.constantFrom("open", "held", "closed", "closed"),
      rank: fc.constantFrom(null, null, 1, 2),
      flag: fc.boolean(),
      at: fc.nat(9),
    }),
    { minLength: 20, maxLength: 60 },
  )
  .map((list) => list.map((patch, i) => item(`i${String((i * 37) % 97).padStart(2, "0")}`, patch)));

/** All scans, from the beginning to the end. */
async function walk(
  reads: Pick<UnscopedReads, "range">,
  range: FilteredRange,
  limit: number,
  max: number,
): Promise<Scan<Item>[]> {
  const scans: Scan<Item>[] = [];
  for (let after: readonly KeyValue[] | undefined; ;) {
    const found: Scan<Item> = await scan(reads, { ...range, limit, ...(after && { after }) }, max);
    scans.push(found);
    if (!found.more) return scans;
    after = found.last ?? expect.fail("a scan that goes on from nowhere");
  }
}

const idsOf = (seen: readonly { readonly id: string }[]): string[] => seen.map(({ id }) => id);
const foundBy = (scans: readonly Scan<Item>[]): Seen<Item>[] => scans.flatMap((each) => each.rows);

function matches(row: Item, { where = {}, keep = () => true }: FilteredRange): boolean {
  const isIn = Object.entries(where).every(([column, wanted]) =>
    [wanted].flat().includes(Reflect.get(row, column) as KeyValue),
  );
  return isIn && keep(row);
}

describe.each(storages)("bounded scans over $name", ({ name, open }) => {
  async function filled(list: readonly Item[]): Promise<StoragePort> {
    const port = open({ empty: true }).connect();
    await port.open(schema);
    await port
      .begin()
      .commit(
        list.map((row) => ({ kind: "insert", collection: items, row: { ...row, version: 1 } })),
      );
    return port;
  }

  test("find what filtering all rows finds, and no scan matches its bound", async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        filteredRange,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 15 }),
        async (list, range, limit, max) => {
          const port = await filled(list);
          try {
            const { where: _where, keep: _keep, ...whole } = range;
            const all = await readsOf(port.reader).range({ ...whole, limit: 1_000 });
            const scans = await walk(readsOf(port.reader), range, limit, max);
            expect(idsOf(foundBy(scans))).toEqual(idsOf(all.filter((row) => matches(row, range))));
            let from = 0;
            for (const { rows: found, more, last } of scans) {
              expect(found.length, `A scan returns at most ${limit} rows.`).toBeLessThanOrEqual(
                limit,
              );
              const id = last?.at(-1);
              const to = last === undefined ? from : all.findIndex((row) => row.id === id) + 1;
              const farthest = Math.max(max, limit + 2);
              if (more && found.length < limit) {
                expect(to - from, "A scan that found too little has read as far as it may.").toBe(
                  farthest,
                );
              } else {
                expect(to - from, `A scan reads at most ${farthest} rows.`).toBeLessThanOrEqual(
                  farthest,
                );
              }
              from = to;
            }
          } finally {
            await port.close();
          }
        },
      ),
      { numRuns: runsOn(name, { memory: 150, SQLite: 150, PostgreSQL: 10 }) },
    );
  });

  test("see each unchanged row exactly once while others are added and removed between reads", async () => {
    const changes = fc.array(
      fc.record({ at: fc.nat(9), removes: fc.nat(59), inserts: fc.boolean() }),
      {
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        rows,
        filteredRange,
        changes,
        fc.integer({ min: 1, max: 4 }),
        async (list, range, planned, limit) => {
          const port = await filled(list);
          try {
            const removed = new Set<string>();
            let made = 0;
            const reads = readsOf(port.reader);
            /** Before each read, a row is added or removed. */
            const interrupted: Pick<UnscopedReads, "range"> = {
              async range(asked) {
                const change = planned[made++];
                const row = change && list[change.removes];
                if (change?.inserts === true) {
                  const fresh = {
                    ...item(`n${made}`, { at: change.at, flag: true, rank: 2 }),
                    version: 1,
                  };
                  await port.begin().commit([{ kind: "insert", collection: items, row: fresh }]);
                } else if (row !== undefined && !removed.has(row.id)) {
                  removed.add(row.id);
                  await port
                    .begin()
                    .commit([{ kind: "remove", collection: items, key: [row.id], version: 1 }]);
                }
                return reads.range(asked);
              },
            };
            const ids = idsOf(foundBy(await walk(interrupted, range, limit, 10)));
            expect(new Set(ids).size, `No row is found twice: ${ids.join(", ")}.`).toBe(ids.length);
            const still = list.filter(
              (row) => row.owner === "anna" && matches(row, range) && !removed.has(row.id),
            );
            expect(ids).toEqual(expect.arrayContaining(idsOf(still)));
          } finally {
            await port.close();
          }
        },
      ),
      { numRuns: runsOn(name, { memory: 100, SQLite: 100, PostgreSQL: 10 }) },
    );
  });

  test("read once when all rows pass or there is no filter", async () => {
    const port = await filled(Array.from({ length: 50 }, (_each, i) => item(`i${i}`, { at: i })));
    const reads = readsOf(port.reader);
    for (const where of [{}, { state: "open" }]) {
      let asked = 0;
      const counted: Pick<UnscopedReads, "range"> = {
        range: (range) => (asked++, reads.range(range)),
      };
      const found = await scan<Item>(counted, {
        index: itemsByTime,
        prefix: ["anna"],
        order: "descending",
        where,
        limit: 20,
      });
      expect(found.rows).toHaveLength(20);
      expect(asked).toBe(1);
    }
    await port.close();
  });
});
