import { createHash } from "node:crypto";
import fc from "fast-check";
import { english } from "tidings/language";
import type { Passage } from "tidings/ports";
import { describe, expect, it } from "vitest";
import { similarity, termsOf } from "../../adapters/language/english/terms.ts";
import { bases } from "../adapters/models/questions.ts";
import { longTest, runs } from "../support/runs.ts";

const { rankPassages } = english();

const word = fc.constantFrom(
  ..."menu juice cheese queue sauce bread trunk desk blue prune route cruise".split(" "),
);
const piece = fc.record({
  title: fc.string({ unit: "grapheme" }),
  text: fc.string({ unit: "grapheme", maxLength: 200 }),
});
const worded = fc.record({
  title: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" ")),
  text: fc.array(word, { maxLength: 20 }).map((words) => words.join(" ")),
});

/** The relevance from which `rules()` answers with a piece of knowledge. */
const enough = 0.5;

/** Words with the same meaning, stem or beginning, of which some have a typing error. */
const writtenWord = fc
  .tuple(
    fc.constantFrom(
      ..."dog dogs puppy parking parked carpark deliver delivery shipping courier friday the".split(
        " ",
      ),
      ..."reserve reservation booking price charge 10euro2 10euro3 駐車場".split(" "),
    ),
    fc.nat(8),
    fc.constantFrom("", "a", "e", "x", "7"),
    fc.constantFrom("none", "none", "insert", "replace", "delete", "swap"),
  )
  .map(([word, at, character, typo]) => {
    const [before, one, two] = [word.slice(0, at), word.slice(at, at + 1), word.slice(at + 1)];
    switch (typo) {
      case "none":
        return word;
      case "insert":
        return before + character + one + two;
      case "replace":
        return before + character + two;
      case "delete":
        return before + two;
      case "swap":
        return before + two.slice(0, 1) + one + two.slice(1);
    }
  });

/** Ranks passages for a question of one sentence as `rankPassages` does, without an index. */
function rankOneByOne(passages: readonly Passage[], question: string) {
  const told = passages.map(({ title, text }) => {
    const [titleTerms, textTerms] = [termsOf(title), termsOf(text)];
    return { titleTerms, textTerms, terms: [...titleTerms, ...textTerms] };
  });
  const meanLength = Math.max(
    told.reduce((sum, { textTerms }) => sum + textTerms.length, 0) / told.length,
    1,
  );
  const asked = [...new Map(termsOf(question).map((term) => [term.meaning, term])).values()];
  const weighed = asked.map((word) => {
    const strengths = told.map(({ titleTerms, textTerms, terms }) => {
      const strengthOf = (stem: string): number => {
        const isIt = (term: { stem: string }) => term.stem === stem;
        const count = titleTerms.filter(isIt).length * 4 + textTerms.filter(isIt).length;
        return count / (count + 0.25 * (0.6 + 0.4 * (textTerms.length / meanLength)));
      };
      if (terms.some(({ stem }) => stem === word.stem)) return strengthOf(word.stem);
      return Math.max(0, ...terms.map((term) => similarity(word, term) * strengthOf(term.stem)));
    });
    const having = strengths.filter((strength) => strength > 0).length;
    const rarity = Math.log(
      1 + (told.length - Math.max(having, 1) + 0.5) / (Math.max(having, 1) + 0.5),
    );
    return { strengths, weight: having === 0 ? rarity * 0.7 : rarity };
  });
  const total = weighed.reduce((sum, { weight }) => sum + weight, 0);
  return passages
    .map((passage, i) => {
      const covered = weighed.reduce(
        (sum, { strengths, weight }) => sum + weight * (strengths[i] ?? 0),
        0,
      );
      return { ...passage, relevance: Math.round((covered / total) * 1_000) / 1_000 };
    })
    .filter(({ relevance }) => relevance > 0)
    .toSorted((one, other) => other.relevance - one.relevance);
}

/** The user CPU time of a function, in microseconds. Another process does not add to it. */
function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user;
}

describe("relevant knowledge", () => {
  it.each(["Is it step-free?", "Is there a step free entrance?"])(
    "about access is found by %j",
    (asked) => {
      const access = { title: "Access", text: "The restaurant is wheelchair accessible." };
      const parking = { title: "Parking", text: "Cars park behind the house." };
      expect(rankPassages([parking, access], asked, 1)).toMatchObject([access]);
    },
  );

  it("is a subset of the pieces, best first, each once, with a relevance from 0 to 1", () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.string({ unit: "grapheme" }),
        fc.nat(8),
        (pieces, asked, most) => {
          const found = rankPassages(pieces, asked, most);
          expect(found.length, "No more passages are found than asked for.").toBeLessThanOrEqual(
            Math.min(most, pieces.length),
          );
          for (const { title, text, relevance } of found) {
            expect(pieces, "A passage that is found is one of the pieces.").toContainEqual({
              title,
              text,
            });
            expect(
              relevance > 0 && relevance <= 1,
              `A relevance is above 0 and up to 1: ${relevance}.`,
            ).toBe(true);
          }
          const order = found.map(({ relevance }) => relevance);
          expect(order).toEqual(order.toSorted((a, b) => b - a));
        },
      ),
    );
  });

  it("does not depend on the order of the pieces, or on case, accents and punctuation", () => {
    fc.assert(
      fc.property(
        fc.array(worded, { minLength: 1, maxLength: 6 }),
        fc.array(word, { maxLength: 6 }),
        (pieces, words) => {
          const relevances = (some: typeof pieces, asked: string) =>
            new Map(
              rankPassages(some, asked, 9).map(({ title, text, relevance }) => [
                `${title}|${text}`,
                relevance,
              ]),
            );
          const plain = relevances(pieces, words.join(" "));
          const dressed = `¡${words.join(", ").toUpperCase().replaceAll("E", "É").replaceAll("U", "Ü")}…`;
          expect(relevances(pieces.toReversed(), words.join(" "))).toEqual(plain);
          expect(relevances(pieces, dressed)).toEqual(plain);
        },
      ),
    );
  });

  it("is ranked by the comparison of every word of the question with every word of a passage", () => {
    const written = fc.array(writtenWord, { maxLength: 12 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(
        fc.array(fc.record({ title: written, text: written }), { minLength: 1, maxLength: 6 }),
        fc.array(writtenWord, { minLength: 1, maxLength: 8 }),
        (pieces, words) => {
          const found = rankPassages(pieces, words.join(" "), pieces.length);
          expect(found).toEqual(rankOneByOne(pieces, words.join(" ")));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  longTest(
    "is found in less time than its index takes, in a long message and much knowledge",
    () => {
      const words = Array.from({ length: 50_000 }, (_, i) => {
        const hash = createHash("sha256").update(`${i}`).digest("base64");
        return hash.replaceAll(/[^a-z]/g, "").slice(0, 8);
      });
      const pieces = Array.from({ length: 100 }, (_, i) => ({
        title: `Piece ${i}`,
        text: words.slice(i * 450, (i + 1) * 450).join(" "),
      }));
      const asked = [words[460], ...words.slice(45_000, 46_000)].join(" ");
      const index = cpuTime(() => rankPassages(pieces, "once, for the index", 1));
      expect(rankPassages(pieces, asked, 100).map(({ title }) => title)).toContain("Piece 1");
      const question = Math.min(
        ...[1, 2, 3].map(() => cpuTime(() => rankPassages(pieces, asked, 1))),
      );
      expect(question / index).toBeLessThan(1);
    },
  );

  it.each(bases)(
    "of the $name is almost 1 for a title's own words, and 0 for gibberish",
    (base) => {
      for (const { title } of base.knowledge) {
        const [best] = rankPassages(base.knowledge, `${title}?`, 1);
        expect(best, title).toMatchObject({ title });
        expect(best?.relevance, title).toBeGreaterThan(0.8);
      }
      expect(rankPassages(base.knowledge, "xqzzt brmpf wgkl", 8)).toEqual([]);
      expect(rankPassages(base.knowledge, "   ?!", 8)).toEqual([]);
    },
  );

  it("is found in a long message, despite a typo, and in a script without spaces", () => {
    const [, shop] = bases;
    const story =
      "Hi, I'm Tom. I ordered boots for my wedding on the lake next month. My aunt loves them. Do you ship to Canada?";
    const [best] = rankPassages(shop?.knowledge ?? [], story, 1);
    expect(best).toMatchObject({ title: "International orders" });
    expect(best?.relevance).toBeGreaterThan(enough);
    expect(rankPassages(shop?.knowledge ?? [], "studnet discuont", 1)).toMatchObject([
      { title: "Discounts" },
    ]);
    const tea = [
      { title: "営業時間", text: "平日は午前十時から営業しています。" },
      { title: "駐車場", text: "店の裏に三台分あります。" },
    ];
    expect(rankPassages(tea, "駐車場はありますか？", 1)).toMatchObject([{ title: "駐車場" }]);
  });

  it("is the piece that people mean, and stays below the threshold if none fits", () => {
    const judged = bases.flatMap(({ knowledge, questions }) =>
      questions.map(([asked, title]) => ({
        asked,
        title,
        best: rankPassages(knowledge, asked, 1)[0],
      })),
    );
    const answerable = judged.filter(({ title }) => title !== null);
    const first = answerable.filter(({ title, best }) => best?.title === title);
    const said = judged.filter(({ best }) => best !== undefined && best.relevance >= enough);
    // Measured: of 75 questions, the right piece comes first for 73 and passes the threshold for
    // 60. No wrong piece passes it, also not for the 18 questions without an answer.
    expect(answerable).toHaveLength(75);
    expect(first.length).toBeGreaterThanOrEqual(72);
    expect(said.length).toBeGreaterThanOrEqual(58);
    expect(said.filter(({ title, best }) => best?.title !== title)).toEqual([]);
  });

  it("takes time linear in the length of the message, even for hostile input", () => {
    const pieces = bases.flatMap(({ knowledge }) => knowledge);
    for (const unit of [
      "a? ",
      "how much is the ",
      "'l'".repeat(4),
      "<|",
      "．",
      "aaaaaaaaaaaa",
      "1 ",
      "?\n",
    ]) {
      const [short, long] = [2_000, 32_000].map((length) =>
        unit.repeat(Math.ceil(length / unit.length)),
      );
      rankPassages(pieces, short ?? "", 8);
      const begun = process.cpuUsage();
      rankPassages(pieces, long ?? "", 8);
      // CPU time, so that a busy machine does not fail the test.
      expect(process.cpuUsage(begun).user, unit).toBeLessThan(1_000_000);
    }
  });
});
