import fc from "fast-check";
import { SentimentIntensityAnalyzer } from "vader-sentiment";
import { expect, it } from "vitest";
import { sentiment } from "../../../adapters/sentiment/index.ts";
import type { SentimentLabel } from "../../../src/contacts/sentiment/sentiment-types.ts";
import type { SentimentAnalyzer } from "../../../src/ports/sentiment.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { forTuning, type Rated } from "./customer-sentences.ts";
import { forJudging } from "./evaluation-sentences.ts";

const analyzer = sentiment();
const labels: readonly SentimentLabel[] = ["negative", "neutral", "positive"];

/** The label that the engine gives a score: positive or negative from 0.2 on. */
async function labelOf(text: string, { score: scoreOf } = analyzer): Promise<SentimentLabel> {
  const score = (await scoreOf(text)) ?? 0;
  if (Math.abs(score) < 0.2) return "neutral";
  return score > 0 ? "positive" : "negative";
}

/** The F1 score (harmonic mean of precision and recall), averaged over the labels. */
async function macroF1(rated: readonly Rated[], by: SentimentAnalyzer = analyzer): Promise<number> {
  const judged = await Promise.all(
    rated.map(async ([label, text]) => ({ label, found: await labelOf(text, by) })),
  );
  const f1 = labels.map((each) => {
    const count = (holds: (one: (typeof judged)[number]) => boolean): number =>
      judged.filter(holds).length;
    const right = count(({ label, found }) => label === each && found === each);
    return (
      (2 * right) /
      Math.max(1, count(({ label }) => label === each) + count(({ found }) => found === each))
    );
  });
  return f1.reduce((a, b) => a + b, 0) / f1.length;
}

const dictionary: SentimentAnalyzer = {
  score: (text) => SentimentIntensityAnalyzer.polarity_scores(text).compound,
};

it("recognizes customers' sentiment in unseen sentences better than the dictionary alone", async () => {
  const known = new Set(forTuning.map(([, text]) => text));
  expect(forJudging.filter(([, text]) => known.has(text))).toEqual([]);
  expect(await macroF1(forJudging)).toBeGreaterThan(0.75);
  expect(await macroF1(forJudging)).toBeGreaterThan((await macroF1(forJudging, dictionary)) + 0.05);
  expect(await macroF1(forTuning)).toBeGreaterThan(0.95);
});

it("recognizes negations in upper and lower case", async () => {
  for (const text of [
    "not happy",
    "Not happy",
    "NOT happy",
    "Never good",
    "Nothing good came of it",
  ]) {
    expect([text, await labelOf(text)]).toEqual([text, "negative"]);
  }
});

it("does not score a question as positive, and still scores a complaint in the form of a question", async () => {
  expect(await labelOf("How many people fit in the big room?")).toBe("neutral");
  expect(await labelOf("Great, thanks! When do you open?")).toBe("positive");
  expect(await labelOf("Why is your service so terrible?")).toBe("negative");
});

it("recognizes complaints and praise without emotional words", async () => {
  expect(await labelOf("I want a refund")).toBe("negative");
  expect(await labelOf("Where is my order?")).toBe("negative");
  expect(await labelOf("where\u2019s my order")).toBe("negative");
  expect(await labelOf("it doesn\u2019t work")).toBe("negative");
  expect(await labelOf("Please help me with my booking")).toBe("neutral");
  expect(await labelOf("😡😡")).toBe("negative");
});

it("returns null or a score from -1 to 1 for every text, and the same score each time", async () => {
  const words = fc.array(
    fc.constantFrom(
      "refund",
      "NOT",
      "good",
      "awful",
      "but",
      "least",
      "!!!",
      ":)",
      "never",
      "so",
      "kind",
      "of",
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        words.map((list) => list.join(" ")),
      ),
      async (text) => {
        const score = await analyzer.score(text);
        if (score !== null) {
          expect(Math.abs(score), "A score is from -1 to 1.").toBeLessThanOrEqual(1);
        }
        expect(await analyzer.score(text), "The same text gets the same score.").toBe(score);
      },
    ),
  );
});

it("returns null for a text without words", async () => {
  expect(await analyzer.score("12345")).toBeNull();
  expect(await analyzer.score("  ?  ")).toBeNull();
});

it("reads only the first 2,000 characters", async () => {
  const filler = "x".repeat(1_999);
  expect(await analyzer.score(`${filler} I hate this horrible, awful service`)).toBe(
    await analyzer.score(filler),
  );
  const endless = "was not even wait for a never ".repeat(50_000);
  expect(await analyzer.score(endless)).toBe(await analyzer.score(endless.slice(0, 2_000)));
});
