import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addScore,
  isVeryNegative,
  type SentimentState,
  type SentimentLabel,
  sentimentOf,
  validScore,
  trendOf,
} from "../../src/contacts/sentiment.ts";

const score = fc.oneof(
  fc.double({ min: -1, max: 1, noNaN: true }),
  // Most doubles are next to nothing.
  fc.integer({ min: -1_000, max: 1_000 }).map((permille) => permille / 1_000),
  fc.constantFrom(-1, -0.6, -0.2, -0.1, 0, 0.1, 0.2, 0.6, 1),
);
const scores = fc.array(score, { minLength: 1, maxLength: 30 });

const moodAfter = (list: readonly number[]): SentimentState => {
  const mood = list.reduce<SentimentState | null>(addScore, null);
  if (mood === null) throw new Error("no scores");
  return mood;
};

/** The weighted mean as books write it: each message 0.6 times as heavy as the next. */
const weighted = (list: readonly number[]): number => {
  const weights = list.map((_, i) => 0.6 ** (list.length - 1 - i));
  const sum = weights.reduce((a, b) => a + b, 0);
  return list.reduce((total, each, i) => total + (each * (weights[i] ?? 0)) / sum, 0);
};

/** The labels of the reference, one after the other. */
const labels = (list: readonly number[]): SentimentLabel[] => {
  let now: SentimentLabel = "neutral";
  return list.map((_, i) => {
    const mean = sentimentOf(moodAfter(list.slice(0, i + 1))).score;
    if (i === 0) return now;
    if (now === "positive" && mean <= 0) now = "neutral";
    if (now === "negative" && mean >= 0) now = "neutral";
    if (mean >= 0.2) now = "positive";
    if (mean <= -0.2) now = "negative";
    return now;
  });
};

describe("a mood", () => {
  it("is the mean of all scores, to four digits, in which each message weighs 0.6 times as much as the next", () => {
    fc.assert(
      fc.property(scores, (list) => {
        const { score } = sentimentOf(moodAfter(list));
        expect(Math.abs(score - weighted(list))).toBeLessThan(0.000_051);
        expect(Math.abs(score)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("is entered at 0.2 either way, left at 0, and never by one message alone", () => {
    fc.assert(
      fc.property(scores, (list) => {
        expect(list.map((_, i) => moodAfter(list.slice(0, i + 1)).label)).toEqual(labels(list));
      }),
    );
    expect(moodAfter([-1]).label).toBe("neutral");
    expect(moodAfter([-1, -1]).label).toBe("negative");
    // 0.19 is no reason to call a neutral contact positive, nor to stop calling a positive one so.
    expect(moodAfter([0.19, 0.19]).label).toBe("neutral");
    expect(moodAfter([0.5, 0.5, 0.01, 0.01, 0.01, 0.01, 0.01]).label).toBe("positive");
    // The edges themselves.
    expect([moodAfter([0.2, 0.2]).label, moodAfter([-0.2, -0.2]).label]).toEqual([
      "positive",
      "negative",
    ]);
    const evened = [moodAfter([0.5, 0.5, -0.48]), moodAfter([-0.5, -0.5, 0.48])];
    expect(evened.map(sentimentOf)).toEqual(evened.map(() => ({ label: "neutral", score: 0 })));
  });

  it("next to zero is shown as zero, which has no sign", () => {
    expect(sentimentOf(moodAfter([-0.000_01])).score).toBe(0);
  });

  it("is the same for two people who feel the opposite, turned around", () => {
    fc.assert(
      fc.property(scores, (list) => {
        const [mood, opposite] = [moodAfter(list), moodAfter(list.map((each) => -each))];
        expect(opposite.mean).toBeCloseTo(-mood.mean, 12);
        const turned = { positive: "negative", negative: "positive", neutral: "neutral" } as const;
        expect(opposite.label).toBe(turned[mood.label]);
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
    // Newest first; what was before the six doesn't count.
    expect(trendOf([1, 1, 1, 0, 0, 0, 1, 1, 1])).toBe("rising");
    expect(trendOf([1, 1, 1, 0.9, 0.9, 0.9, -1, -1, -1])).toBe("steady");
    // By two or by four it would fall.
    expect(trendOf([0, 0, 1, 0, 0, 0, 1, 1])).toBe("rising");
    expect(trendOf([0.2, 0])).toBe("rising");
  });

  it("turns around with the messages", () => {
    const turned = { rising: "falling", falling: "rising", steady: "steady" } as const;
    fc.assert(
      fc.property(scores, (list) => {
        expect(trendOf(list.map((each) => -each))).toBe(turned[trendOf(list)]);
      }),
    );
  });
});

it("one message is very negative from -0.6 down", () => {
  expect([-1, -0.6, -0.59, 1].map(isVeryNegative)).toEqual([true, true, false, false]);
});

it("an analyzer's answer outside of -1 to 1 is none", () => {
  expect(
    [-1, 0, 1, 1.1, -1.1, Number.NaN, Infinity, "0.5", null, undefined].map(validScore),
  ).toEqual([-1, 0, 1, null, null, null, null, null, null, null]);
});
