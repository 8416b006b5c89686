import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { containsPhrase, foldText, nearestName, normalizedWords } from "../../src/kernel/text.ts";
import { anyCharacter } from "../support/any-character.ts";

describe("folding a text", () => {
  it.each([
    ["Café", "cafe"],
    ["CAFE\u0301", "cafe"],
    ["ﬁne ＳＴＯＰ", "fine stop"],
    ["Straße GROẞ", "strasse gross"],
    ["ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"],
    ["Don’t don‘t don`t don´t", "don't don't don't don't"],
    ["İstanbul", "istanbul"],
    ["ŁUKASZ Đặng Ǿster Þór Œuvre", "lukasz dang oster thor oeuvre"],
  ])("makes %s comparable", (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it("keeps marks that tell words apart, if asked to", () => {
    expect(foldText("ほん ぼん", "accents")).toBe("ほん ぼん");
    expect(foldText("ほん ぼん")).toBe("ほん ほん");
    expect(foldText("한국어 Café", "accents")).toBe("한국어 cafe");
    expect(foldText("STÖP’ Łódź", "none")).toBe("stöp' łódź");
    expect(foldText("Łódź", "accents")).toBe("lodz");
  });

  it("is idempotent and ignores case", () => {
    const text = fc.string({ unit: anyCharacter });
    const marks = fc.constantFrom("all" as const, "accents" as const, "none" as const);
    fc.assert(
      fc.property(text, marks, (given, removed) => {
        const folded = foldText(given, removed);
        expect(foldText(folded, removed), "Folding a text again changes nothing.").toBe(folded);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (given) => {
        expect(foldText(given.toUpperCase()), "Folding makes upper and lower case equal.").toBe(
          foldText(given.toLowerCase()),
        );
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

describe("the nearest known name", () => {
  const known = ["concurrency", "laneConcurrency", "eventRetentionDays", "storage", "transports"];
  const letter = fc.constantFrom(...Array.from("abcdefghijklmnopqrstuvwxyz"));

  it("is found after one letter is added, lost, replaced or swapped, in any notation", () => {
    const oneSlip = fc
      .record({ name: fc.constantFrom(...known), at: fc.nat(6), letter, slip: fc.nat(3) })
      .map(({ name, at, letter: other, slip }) => {
        const before = name.slice(0, at);
        const [first = "", second = ""] = name.slice(at);
        const rest = name.slice(at + 1);
        const wrong = [
          before + other + name.slice(at),
          before + rest,
          before + other + rest,
          before + second + first + name.slice(at + 2),
        ];
        return { name, wrong: wrong[slip] ?? "" };
      });
    fc.assert(
      fc.property(oneSlip, ({ name, wrong }) => {
        const snake = wrong.replaceAll(/[A-Z]/g, (each) => `_${each.toLowerCase()}`);
        expect([nearestName(wrong, known), nearestName(snake, known)]).toEqual([name, name]);
      }),
    );
  });

  it.each(["", "colour", "sq", "x".repeat(1_000_000)])("does not exist for %#", (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});
