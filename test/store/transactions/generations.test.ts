import fc from "fast-check";
import { expect, it } from "vitest";
import { Generations } from "../../../src/store/transactions/recent-rows.ts";

const key = fc.nat({ max: 9 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("set" as const), key }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("clear" as const) }) },
);

it("keeps the last insertions and never more than twice as many, each with its last value", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, size) => {
        const generations = new Generations<number>(size);
        const model = new Map<number, number>();
        /**
         * The keys in the order of the calls. A key that is only known from the old generation is
         * inserted again, so it displaces others, and the test cannot tell it from the outside.
         */
        let inserted: number[] = [];
        for (const [at, each] of steps.entries()) {
          if (each.kind === "clear") {
            generations.clear();
            model.clear();
            inserted = [];
          } else if (each.kind === "delete") {
            generations.delete([each.key]);
            model.delete(each.key);
          } else {
            inserted.push(each.key);
            generations.set([each.key], at);
            model.set(each.key, at);
          }
          const kept = [...model].filter(([known]) => generations.get([known]) !== undefined);
          for (const [known, value] of kept) {
            expect(generations.get([known]), "A kept key has its last value.").toBe(value);
          }
          for (let known = 0; known < 10; known++) {
            if (model.has(known)) continue;
            const gone = "A key that was deleted or cleared is gone.";
            expect(generations.get([known]), gone).toBeUndefined();
          }
          for (const last of inserted.slice(-size)) {
            expect(generations.get([last]), "The keys that were inserted last are kept.").toBe(
              model.get(last),
            );
          }
          expect(kept.length, "Two generations are kept.").toBeLessThanOrEqual(2 * size);
        }
      },
    ),
  );
});
