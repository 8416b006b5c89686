import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  item,
  items,
  itemsByTime,
  schema,
  type Item,
} from "../../../adapters/testing/conformance/storage/collections.ts";
import type { KeyValue } from "../../../src/ports/collection.ts";
import { comparePlaces } from "../../../src/store/reads/index-order.ts";
import { unscopedReads as readsOf } from "../../../src/store/reads/reads.ts";
import { scanAcross, type Scan } from "../../../src/store/reads/scan.ts";
import { runsOn } from "../../support/runs.ts";
import { storages } from "../../support/storage/storages.ts";

const owners = ["anna", "bert", "cleo"] as const;
const rows = fc
  .array(
    fc.record({
      owner: fc.constantFrom(...owners),
      state: fc.constantFrom("open", "closed", "closed"),
      at: fc.nat(9),
    }),
    // Long ranges, of which one scan does not examine all rows.
    { minLength: 10, maxLength: 60, size: "max" },
  )
  .map((list) => list.map((patch, i) => item(`i${String((i * 37) % 97).padStart(2, "0")}`, patch)));

describe.each(storages)("a scan across several ranges over $name", ({ name, open }) => {
  test("finds the rows of all ranges in one order, for all filters and scan lengths", async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.subarray([...owners], { minLength: 1 }),
        fc.constantFrom("ascending" as const, "descending" as const),
        fc.constantFrom({ state: "open" }, { state: "nowhere" }, {}),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 15 }),
        async (list, some, order, where, limit, max) => {
          const port = open({ empty: true }).connect();
          await port.open(schema);
          await port.begin().commit(
            list.map((row) => ({
              kind: "insert",
              collection: items,
              row: { ...row, version: 1 },
            })),
          );
          const sign = order === "ascending" ? 1 : -1;
          const inRanges = list.filter(({ owner }) => some.some((each) => each === owner));
          try {
            const found: Item[] = [];
            for (let after: readonly KeyValue[] | undefined, scans = 0; ; scans++) {
              expect(scans, "Each scan makes progress.").toBeLessThanOrEqual(list.length);
              const common = { index: itemsByTime, order, where, limit, ...(after && { after }) };
              const ranges = some.map((owner) => ({ ...common, prefix: [owner] }));
              const seen: Scan<Item> = await scanAcross(readsOf(port.reader), ranges, max);
              expect(seen.rows.length, `A scan returns at most ${limit} rows.`).toBeLessThanOrEqual(
                limit,
              );
              const isPassed = ({ at, id }: Item): boolean => {
                const isAfter = (place: readonly KeyValue[] | undefined): boolean =>
                  place !== undefined && sign * comparePlaces([at, id], place) > 0;
                return !isAfter(seen.last) && (after === undefined || isAfter(after));
              };
              expect(
                inRanges.filter(isPassed).length,
                `A scan passes at most ${max} rows of all ranges, or a page of each and two more.`,
              ).toBeLessThanOrEqual(Math.max(max, some.length * (limit + 2)));
              found.push(...seen.rows);
              if (!seen.more) break;
              after = seen.last ?? expect.fail("a scan that goes on from nowhere");
            }
            const expected = inRanges
              .filter(({ state }) => !("state" in where) || state === where.state)
              .toSorted((a, b) => sign * (a.at - b.at || (a.id < b.id ? -1 : 1)));
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
          } finally {
            await port.close();
          }
        },
      ),
      { numRuns: runsOn(name, { memory: 150, SQLite: 100, PostgreSQL: 8 }) },
    );
  });
});
