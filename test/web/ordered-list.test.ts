/** The long list of the inbox, against a plain array. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderedList } from "../../adapters/web/inbox/browser/state/ordered-list.ts";

interface Row {
  readonly id: string;
  readonly rank: number;
}

const order = (a: Row, b: Row): number => a.rank - b.rank || a.id.localeCompare(b.id);

const contents = (list: OrderedList<Row>): (string | undefined)[] =>
  Array.from({ length: list.length }, (_, index) => list.at(index));

const row = fc.record({ id: fc.nat(1_999).map((n) => `r${n}`), rank: fc.nat(3_000) });
/** At first, row `r7` has the rank 14. A small change of its rank leaves it where it is. */
const nearby = fc
  .tuple(fc.nat(1_499), fc.integer({ min: -3, max: 3 }))
  .map(([n, by]) => ({ id: `r${n}`, rank: n * 2 + by }));
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("place" as const), row }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("place" as const), row: nearby }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), row }) },
);

test("a list has the order of a sorted array after every change, and says what moved", () => {
  const sizes = fc.constantFrom(0, 1, 3, 511, 512, 513, 1_500);
  fc.assert(
    fc.property(sizes, fc.array(change, { maxLength: 60 }), (size, changes) => {
      const list = new OrderedList(order);
      const first = Array.from({ length: size }, (_, n) => ({ id: `r${n}`, rank: n * 2 }));
      list.append(first);
      let model: readonly Row[] = first;
      for (const { kind, row: next } of changes) {
        const before = model.map(({ id }) => id);
        const rest = model.filter(({ id }) => id !== next.id);
        model = kind === "remove" ? rest : [...rest, next].toSorted(order);
        const after = model.map(({ id }) => id);
        const isMoved = before.indexOf(next.id) !== after.indexOf(next.id);
        if (kind === "place") {
          expect(list.moves(next), "A row moves exactly if its place changes.").toBe(isMoved);
        }
        const said = kind === "remove" ? list.remove(next.id) : list.place(next);
        expect(said, "The list tells whether the row changed its place.").toBe(isMoved);
        expect(list.indexOf(next.id), "A row is found at its place.").toBe(after.indexOf(next.id));
        expect(list.length, "The list has each row once.").toBe(after.length);
      }
      expect(contents(list)).toEqual(model.map(({ id }) => id));
      expect(list.at(list.length), "Nothing follows the last row.").toBeUndefined();
      const probe = { id: "probe", rank: 1_000 };
      const last = model.at(-1);
      expect(
        list.isAfterAll(probe),
        "A row comes after all others exactly if it comes after the last.",
      ).toBe(last !== undefined && order(probe, last) > 0);
    }),
  );
});

test("rows that were appended in another order are found and removed all the same", () => {
  const rows = fc.uniqueArray(row, { selector: ({ id }) => id, minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(rows, fc.nat(), (given, pick) => {
      const list = new OrderedList(order);
      list.append(given);
      const ids = given.map(({ id }) => id);
      expect(ids.map((id) => list.indexOf(id))).toEqual(ids.keys().toArray());
      const removed = ids[pick % ids.length] ?? "";
      expect(list.remove(removed), "A row that is in the list can be removed.").toBe(true);
      expect(contents(list)).toEqual(ids.filter((id) => id !== removed));
    }),
  );
});
