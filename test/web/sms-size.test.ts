import fc from "fast-check";
import { expect, test } from "vitest";
import { smsSize } from "../../adapters/web/inbox/browser/conversation/encoding.ts";
import { segmentsOf } from "../../src/messages/segments.ts";
import { runs } from "../support/runs.ts";

const texts = fc.oneof(
  fc.string({
    unit: fc.constantFrom("a", "é", "€", "[", " ", "\n", "\r"),
    maxLength: 500,
    size: "max",
  }),
  fc.string({ unit: "grapheme", maxLength: 300, size: "max" }),
  fc.string({ unit: fc.constantFrom("a", "👩‍👩‍👧", "\r\n", "ñ", "ł"), maxLength: 200, size: "max" }),
);

test("the composer counts the parts that the message is billed as", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { parts, encoding } = smsSize(text);
      expect({ count: parts, encoding }).toEqual(segmentsOf(text));
    }),
    { numRuns: runs(1000) },
  );
});

test("the composer names the first character that needs UCS-2, and the room that is left", () => {
  expect(smsSize("Fish & chips")).toEqual({
    encoding: "GSM-7",
    parts: 1,
    remaining: 148,
    culprit: null,
  });
  expect(smsSize("10 € for 👨‍👩‍👧 and ł")).toMatchObject({ encoding: "UCS-2", culprit: "👨‍👩‍👧" });
});
