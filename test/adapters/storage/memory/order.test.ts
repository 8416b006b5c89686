import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../../../adapters/storage/memory/index.ts";
import {
  item,
  itemById,
  itemByLabel,
  items,
  itemsByTime,
  schema,
  type Item,
} from "../../../../adapters/testing/conformance/storage/collections.ts";
import { StorageConflict, type Write } from "../../../../src/ports/index.ts";
import { runs } from "../../../support/runs.ts";

/** Some rows of one owner at successive times: added in order, in any order, or removed. */
const block = fc.record({
  owner: fc.constantFrom("anna", "bert", "zoë"),
  from: fc.nat(900),
  count: fc.integer({ min: 1, max: 700 }),
  how: fc.constantFrom("add in order", "add in any order", "remove"),
});

/** The rows after the one that was inserted last are removed, and the next row is far beyond. */
const gapAfterLastInserted = [
  { owner: "anna", from: 0, count: 600, how: "add in order" },
  { owner: "anna", from: 100, count: 10, how: "remove" },
  { owner: "anna", from: 100, count: 5, how: "add in order" },
  { owner: "anna", from: 105, count: 300, how: "remove" },
  { owner: "anna", from: 700, count: 1, how: "add in order" },
];

it("rows stay in order, however many come and go in whatever order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 4, maxLength: 8 }), async (blocks) => {
      const storage = memory();
      await storage.open(schema);
      const rows = new Map<string, Item>();
      for (const { owner, from, count, how } of blocks) {
        const times = Array.from({ length: count }, (_, i) => from + i);
        // The times by their digits from the last to the first.
        if (how === "add in any order") times.sort((a, b) => (reversed(a) < reversed(b) ? -1 : 1));
        const writes: Write[] = [];
        for (const at of times) {
          const id = `${owner} ${at}`;
          const isThere = rows.has(id);
          if (how === "remove" && isThere) {
            writes.push({ kind: "remove", collection: items, key: [id], version: 1 });
            rows.delete(id);
          } else if (how !== "remove" && !isThere) {
            const row = item(id, { owner, at, label: `label ${at}` });
            writes.push({ kind: "insert", collection: items, row: { ...row, version: 1 } });
            rows.set(id, row);
          }
        }
        await storage.begin().commit(writes);
      }
      const expected = [...rows.values()].toSorted(
        (a, b) => (a.owner < b.owner ? -1 : a.owner > b.owner ? 1 : 0) || a.at - b.at,
      );
      const ids = expected.map(({ id }) => id);
      const whole = { index: itemsByTime, prefix: [], limit: 9_999 } as const;
      const up = await storage.reader.range({ ...whole, order: "ascending" });
      const down = await storage.reader.range({ ...whole, order: "descending" });
      expect(up.map(({ id }) => id)).toEqual(ids);
      expect(down.map(({ id }) => id)).toEqual(ids.toReversed());

      for (const { id, owner, label } of expected.filter((_, i) => i % 40 === 0)) {
        const found = await storage.reader.get([
          { index: itemById, key: [id], limit: 1 },
          { index: itemByLabel, key: [owner, label], limit: 1 },
        ]);
        expect(found.map(([row]) => row?.["id"])).toEqual([id, id]);
        const row = { ...item("a", { owner, label }), version: 1 };
        expect(
          () => storage.begin().commit([{ kind: "insert", collection: items, row }]),
          "A row with the unique key of another one conflicts.",
        ).toThrow(StorageConflict);
      }
    }),
    { numRuns: runs(20), examples: [[gapAfterLastInserted]] },
  );
});

const reversed = (n: number): string => [...String(n)].toReversed().join("");
