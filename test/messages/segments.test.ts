import fc from "fast-check";
import { SegmentedMessage } from "sms-segments-calculator";
import { describe, expect, it } from "vitest";
import { segmentsOf } from "../../src/messages/segments.ts";

const gsm = [
  ...Array.from(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCXYZÄÖÑÜ§¿abcxyzäöñüà",
  ),
  ...Array.from("\f^{}\\[~]|€"),
];
const others = [
  ...Array.from("`ê“”…–ЖяאあБ中文한글😀🎉"),
  "\u00a0",
  "\u200d",
  "e\u0301",
  "👍🏽",
  "\r\n",
];

const byCalculator = (text: string) => {
  const { encodingName, segmentsCount } = new SegmentedMessage(text);
  return { count: segmentsCount, encoding: encodingName };
};
const textOf = (units: string[], maxLength: number) =>
  fc.array(fc.constantFrom(...units), { maxLength, size: "max" }).map((parts) => parts.join(""));

describe("the segments of an SMS", () => {
  it("equal the carrier's calculator if every character is GSM-7", () => {
    fc.assert(
      fc.property(textOf(gsm, 500), (text) => {
        expect(segmentsOf(text)).toEqual(byCalculator(text));
      }),
      { numRuns: 60 },
    );
  });

  it("equal the carrier's calculator if both see the same graphemes", () => {
    const seen = new Intl.Segmenter("en", { granularity: "grapheme" });
    const same = (text: string) => {
      const ours = [...seen.segment(text)].flatMap(({ segment }) =>
        segment === "\r\n" ? ["\r", "\n"] : [segment],
      );
      return ours.join("|") === new SegmentedMessage(text).graphemes.join("|");
    };
    fc.assert(
      fc.property(textOf([...gsm, ...others, ...others], 250), (text) => {
        fc.pre(same(text));
        expect(segmentsOf(text)).toEqual(byCalculator(text));
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ["an empty text", "", 1, "GSM-7"],
    ["160 letters", "a".repeat(160), 1, "GSM-7"],
    ["161 letters", "a".repeat(161), 2, "GSM-7"],
    ["306 letters", "a".repeat(306), 2, "GSM-7"],
    ["307 letters", "a".repeat(307), 3, "GSM-7"],
    ["80 euro signs, which count double", "€".repeat(80), 1, "GSM-7"],
    ["153 euro signs, none split", "€".repeat(153), 3, "GSM-7"],
    ["70 Cyrillic letters", "я".repeat(70), 1, "UCS-2"],
    ["71 Cyrillic letters", "я".repeat(71), 2, "UCS-2"],
    ["67 emoji, none split", "😀".repeat(67), 3, "UCS-2"],
  ])("%s", (_name, text, count, encoding) => {
    expect(segmentsOf(text)).toEqual({ count, encoding });
  });

  it("are counted for any text, and never fewer than its characters need", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
        const { count, encoding } = segmentsOf(text);
        const room = encoding === "GSM-7" ? 160 : 70;
        expect(
          count,
          `${text.length} characters in ${encoding} have the segments that they need.`,
        ).toBeGreaterThanOrEqual(Math.max(1, Math.ceil(text.length / room)));
      }),
    );
  });
});
