import fc from "fast-check";
import { expect, test } from "vitest";
import {
  exactDuration,
  firstCharacters,
  timeIn,
  timeOfDay,
} from "../../adapters/web/shared/browser/texts/formats.ts";
import { anyCharacter } from "../support/any-character.ts";

const [s, m, h, d] = [1000, 60_000, 3_600_000, 86_400_000];

test("a duration is rounded, and no unit of it is full", () => {
  const shown: readonly (readonly [number, string])[] = [
    [0, "0ms"],
    [999.4, "999ms"],
    [999.6, "1s"],
    [2_449, "2.4s"],
    [59_949, "59.9s"],
    [59_950, "1m"],
    [3 * m + 20.4 * s, "3m 20s"],
    [h - 501, "59m 59s"],
    [h - 500, "1h"],
    [2 * h + 29.6 * m, "2h 30m"],
    [d - 30_001, "23h 59m"],
    // A day from now, some milliseconds later.
    [d - 20, "1d"],
    [3 * d + 23.6 * h, "4d"],
    [400 * d, "400d"],
  ];
  for (const [ms, text] of shown) expect([ms, exactDuration(ms)]).toEqual([ms, text]);
});

test("the hour after midnight is 0", () => {
  expect(timeOfDay(new Date(2026, 2, 2, 0, 5, 9))).toBe("00:05:09");
  expect(timeOfDay(new Date(2026, 2, 2, 14, 5, 9))).toBe("14:05:09");
});

test("the time in another time zone has the weekday, and there is none in an unknown time zone", () => {
  const at = Date.UTC(2026, 2, 2, 20, 5);
  expect(timeIn("Asia/Tokyo", at)).toMatch(/^Tue,? 0?5:05/);
  expect(timeIn("America/Los_Angeles", at)).toMatch(/^Mon,? 12:05/);
  expect(timeIn("Atlantis/Capital", at)).toBeUndefined();
});

test("the first characters of a text are whole, and at most as many as asked for", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.nat({ max: 20 }), (text, max) => {
      const shown = firstCharacters(text, max);
      expect(text.startsWith(shown), "It is the beginning of the text.").toBe(true);
      expect(shown.isWellFormed(), "No character is cut in two.").toBe(true);
      const { length } = [...text];
      expect([...shown], "It is as long as it may be.").toHaveLength(Math.min(length, max));
    }),
  );
});
