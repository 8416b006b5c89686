import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsPhrase, foldText, normalizedWords } from "../../src/kernel/text.ts";

describe("folding a text", () => {
  it.each([
    ["Café", "cafe"],
    ["CAFE\u0301", "cafe"],
    ["ﬁne ＳＴＯＰ", "fine stop"],
    ["Straße GROẞ", "strasse gross"],
    ["ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"],
    ["Don’t don‘t don`t don´t", "don't don't don't don't"],
    ["İstanbul", "istanbul"],
  ])("makes %s comparable", (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it("keeps marks that tell words apart, if asked to", () => {
    expect(foldText("ほん ぼん", "accents")).toBe("ほん ぼん");
    expect(foldText("ほん ぼん")).toBe("ほん ほん");
    expect(foldText("한국어 Café", "accents")).toBe("한국어 cafe");
    expect(foldText("STÖP’", "none")).toBe("stöp'");
  });

  it("is idempotent and ignores case", () => {
    const text = fc.string({ unit: "binary" });
    const marks = fc.constantFrom("all" as const, "accents" as const, "none" as const);
    fc.assert(
      fc.property(text, marks, (given, removed) => {
        const folded = foldText(given, removed);
        expect(foldText(folded, removed)).toBe(folded);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (given) => {
        expect(foldText(given.toUpperCase())).toBe(foldText(given.toLowerCase()));
      }),
    );
  });
});

describe("the words of a text", () => {
  it.each([
    ["  Don’t   STOP -- now! ", "dont stop now"],
    ["東京タワー 3", "東 京 タ ワ ー 3"],
    ["ok👍", "ok 👍"],
    ["...", ""],
  ])("of %s", (text, words) => {
    expect(normalizedWords(text)).toBe(words);
  });

  it("contain a phrase only as whole words", () => {
    expect(containsPhrase("the opening hours please", "opening hours")).toBe(true);
    expect(containsPhrase("reopening hours", "opening hours")).toBe(false);
    expect(containsPhrase("any", "")).toBe(false);
  });
});
