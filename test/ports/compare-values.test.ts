import fc from "fast-check";
import { expect, it } from "vitest";
import { compareValues } from "../../src/ports/compare-values.ts";

/** Characters on both sides of the surrogates, so that many texts share a beginning. */
const text = fc
  .array(fc.constantFrom("a", "b", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), {
    maxLength: 4,
  })
  .map((characters) => characters.join(""));

it("texts are ordered by code point, as their bytes in UTF-8 are", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      fc.pre(a !== b);
      const order = Buffer.compare(Buffer.from(a), Buffer.from(b));
      expect(Math.sign(compareValues(a, b)), "The order is that of the bytes.").toBe(order);
    }),
  );
});

it("null comes first, and false before true", () => {
  const ordered = [null, false, true];
  expect([true, null, false].toSorted(compareValues)).toEqual(ordered);
});
