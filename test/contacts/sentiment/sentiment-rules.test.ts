import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addScore,
  isVeryNegative,
  sentimentOf,
  trendOf,
  validScore,
  type SentimentState,
} from "../../../src/contacts/sentiment/sentiment-rules.ts";
import type { SentimentLabel } from "../../../src/contacts/sentiment/sentiment-types.ts";

const score = fc.oneof(
  fc.double({ min: -1, max: 1, noNaN: true }),
  // Most arbitrary doubles are close to zero.
  fc.integer({ min: -1_000, max: 1_000 }).map((permille) => permille / 1_000),
  fc.constantFrom(-1, -0.6, -0.2, -0.1, 0, 0.1, 0.2, 0.6, 1),
);
const scores = fc.array(score, { minLength: 1, maxLength: 30 });

const stateAfter = (list: readonly number[]): SentimentState => {
  const mood = list.reduce<SentimentState | null>(addScore, null);
  if (mood === null) throw new Error("no scores");
  return mood;
};

/** The textbook weighted mean: each message weighs 0.6 times as much as the next. */
const weighted = (list: readonly number[]): number => {
  const weights = list.map((_, i) => 0.6 ** (list.length - 1 - i));
  const sum = weights.reduce((a, b) => a + b, 0);
  return list.reduce((total, each, i) => total + (each * (weights[i] ?? 0)) / sum, 0);
};

/** The successive labels of the reference. */
const labels = (list: readonly number[]): SentimentLabel[] => {
  let now: SentimentLabel = "neutral";
  return list.map((_, i) => {
    const mean = sentimentOf(stateAfter(list.slice(0, i + 1))).score;
    if (i === 0) return now;
    if (now === "positive" && mean <= 0) now = "neutral";
    if (now === "negative" && mean >= 0) now = "neutral";
    if (mean >= 0.2) now = "positive";
    if (mean <= -0.2) now = "negative";
    return now;
  });
};

describe("a sentiment state", () => {
  it("is the mean of all scores to four digits; each message weighs 0.6 times as much as the next", () => {
    fc.assert(
      fc.property(scores, (list) => {
        const { score } = sentimentOf(stateAfter(list));
        expect(
          Math.abs(score - weighted(list)),
          "The score is the weighted mean, to four digits.",
        ).toBeLessThan(0.000_051);
        expect(Math.abs(score), "A score is from -1 to 1.").toBeLessThanOrEqual(1);
      }),
    );
  });

  it("changes its label at ±0.2, returns to neutral at 0, and needs more than one message", () => {
    fc.assert(
      fc.property(scores, (list) => {
        expect(list.map((_, i) => stateAfter(list.slice(0, i + 1)).label)).toEqual(labels(list));
      }),
    );
    expect(stateAfter([-1]).label).toBe("neutral");
    expect(stateAfter([-1, -1]).label).toBe("negative");
    // At 0.19, a neutral contact stays neutral and a positive one stays positive.
    expect(stateAfter([0.19, 0.19]).label).toBe("neutral");
    expect(stateAfter([0.5, 0.5, 0.01, 0.01, 0.01, 0.01, 0.01]).label).toBe("positive");
    // The exact thresholds.
    expect([stateAfter([0.2, 0.2]).label, stateAfter([-0.2, -0.2]).label]).toEqual([
      "positive",
      "negative",
    ]);
    const evened = [stateAfter([0.5, 0.5, -0.48]), stateAfter([-0.5, -0.5, 0.48])];
    expect(evened.map(sentimentOf)).toEqual(evened.map(() => ({ label: "neutral", score: 0 })));
  });

  it("close to zero is shown as 0, never -0", () => {
    expect(sentimentOf(stateAfter([-0.000_01])).score).toBe(0);
  });

  it("is negated if all scores are negated", () => {
    fc.assert(
      fc.property(scores, (list) => {
        const [mood, opposite] = [stateAfter(list), stateAfter(list.map((each) => -each))];
        expect(opposite.mean, "Negated scores have the negated mean.").toBeCloseTo(-mood.mean, 12);
        const turned = { positive: "negative", negative: "positive", neutral: "neutral" } as const;
        expect(opposite.label, `Negated scores have the opposite label of ${mood.label}.`).toBe(
          turned[mood.label],
        );
      }),
    );
  });
});

describe("a trend", () => {
  it("compares up to three messages with as many before them", () => {
    expect(trendOf([])).toBe("steady");
    expect(trendOf([1])).toBe("steady");
    expect(trendOf([0.5, 0])).toBe("rising");
    expect(trendOf([-0.5, 0.5])).toBe("falling");
    expect(trendOf([0.1, 0])).toBe("steady");
    // Newest first. Only the last six count.
    expect(trendOf([1, 1, 1, 0, 0, 0, 1, 1, 1])).toBe("rising");
    expect(trendOf([1, 1, 1, 0.9, 0.9, 0.9, -1, -1, -1])).toBe("steady");
    // With two or four messages it would fall.
    expect(trendOf([0, 0, 1, 0, 0, 0, 1, 1])).toBe("rising");
    expect(trendOf([0.2, 0])).toBe("rising");
  });

  it("is reversed if all scores are negated", () => {
    const turned = { rising: "falling", falling: "rising", steady: "steady" } as const;
    fc.assert(
      fc.property(scores, (list) => {
        expect(trendOf(list.map((each) => -each)), "Negated scores have the opposite trend.").toBe(
          turned[trendOf(list)],
        );
      }),
    );
  });
});

it("one message is very negative at -0.6 and below", () => {
  expect([-1, -0.6, -0.59, 1].map(isVeryNegative)).toEqual([true, true, false, false]);
});

it("an analyzer's score outside -1 to 1 is ignored", () => {
  expect(
    [-1, 0, 1, 1.1, -1.1, Number.NaN, Infinity, "0.5", null, undefined].map(validScore),
  ).toEqual([-1, 0, 1, null, null, null, null, null, null, null]);
});
