import fc from "fast-check";
import { expect, test } from "vitest";
import { boundedCache } from "../../src/kernel/cache.ts";

test("a bounded cache holds the entries that were used last, and no more than its maximum", () => {
  const keys = fc.integer({ min: 0, max: 9 }).map(String);
  const uses = fc.array(fc.record({ key: keys, writes: fc.boolean() }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), uses, (max, all) => {
      const cache = boundedCache<string, number>(max);
      // The least recently used entry comes first.
      let expected: [string, number][] = [];
      for (const [turn, { key, writes }] of all.entries()) {
        const found = expected.find(([name]) => name === key);
        if (writes) cache.set(key, turn);
        else {
          expect(cache.get(key), `The cache has the ${max} entries that were used last.`).toBe(
            found?.[1],
          );
        }
        const used: [string, number] | undefined = writes ? [key, turn] : found;
        if (used !== undefined) {
          expected = [...expected.filter(([name]) => name !== key), used].slice(-max);
        }
      }
      expect([...cache.entries()]).toEqual(expected.toReversed());
    }),
  );
});
