import fc from "fast-check";
import { expect, it } from "vitest";
import { storable } from "../../src/kernel/text.ts";
import { anyCharacter } from "../support/any-character.ts";

it("keeps a text of up to the maximum number of characters, and shows where a longer one is cut", () => {
  const character = fc.oneof(anyCharacter, fc.constantFrom("a", "😀"));
  const characters = fc.array(character, { maxLength: 12 });
  fc.assert(
    fc.property(characters, fc.integer({ min: 1, max: 12 }), (given, max) => {
      const points = given.flatMap((each) => [...each]);
      const whole = storable(given.join(""), 1_000);
      const cut = storable(given.join(""), max);
      expect([...cut].length, "A text has at most `max` characters.").toBeLessThanOrEqual(max);
      if (points.length <= max) {
        expect(cut, "A text that is short enough is kept.").toBe(whole);
      } else {
        expect(cut.endsWith("…"), "A text that was cut ends with an ellipsis.").toBe(true);
        expect(whole.startsWith(cut.slice(0, -1)), "The rest of it is as it was.").toBe(true);
      }
    }),
  );
});
