import fc from "fast-check";
import { expect, it } from "vitest";
import { KeyMap } from "../../../src/store/transactions/key-map.ts";

/**
 * Few parts, so that keys meet. One is the beginning of another, and a number and a boolean look like
 * texts.
 */
const part = fc.constantFrom("a", "ab", "", "1", 1, "true", true, null);
const key = fc.array(part, { maxLength: 3 });

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("set" as const), key, value: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("getOrInsert" as const), key, value: fc.nat() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), key }) },
);

it("a map of keys has the value that each key was given last, and no other", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.array(key), (steps, others) => {
      const map = new KeyMap<number>();
      const model = new Map<string, number>();
      for (const each of steps) {
        if (each.kind === "set") {
          map.set(each.key, each.value);
          model.set(JSON.stringify(each.key), each.value);
        } else if (each.kind === "getOrInsert") {
          const expected = model.get(JSON.stringify(each.key)) ?? each.value;
          const value = map.getOrInsert(each.key, () => each.value);
          expect(value, "A key that has a value keeps it.").toBe(expected);
          model.set(JSON.stringify(each.key), expected);
        } else {
          map.delete(each.key);
          model.delete(JSON.stringify(each.key));
        }
      }
      for (const asked of [...steps.map((each) => each.key), ...others]) {
        expect(map.get(asked), `the value of ${JSON.stringify(asked)}`).toBe(
          model.get(JSON.stringify(asked)),
        );
      }
      const sorted = (values: Iterable<number>) => [...values].toSorted((a, b) => a - b);
      expect(sorted(map.values()), "all values").toEqual(sorted(model.values()));
    }),
  );
});
