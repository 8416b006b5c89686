import type { Mood, Sentiment, SentimentLabel } from "./sentiment-types.ts";

/** The weight of the newest message. */
const alpha = 0.4;
/** A mood is entered here, and left only when the mean is back at zero: one that hovers about the edge doesn't flicker. */
const enter = 0.2;
/** One message is no mood. */
const leastMessages = 2;
const veryNegative = -0.6;
/** Trends compare so many messages with as many before them. */
const trendSpan = 3;
const trendStep = 0.2;

/** What a mood becomes by one more message. `score` is in -1 to 1. */
export function feel(mood: Mood | null, score: number): Mood {
  const messages = (mood?.messages ?? 0) + 1;
  const mean = (1 - alpha) * (mood?.mean ?? 0) + alpha * score;
  return {
    label: labelFor(mood?.label ?? "neutral", scoreFrom(mean, messages), messages),
    mean,
    messages,
  };
}

/** A mood as others see it. */
export function sentimentOf({ label, mean, messages }: Mood): Sentiment {
  return { label, score: scoreFrom(mean, messages) };
}

/** What there is before the first message. */
export const unmoved: Sentiment = { label: "neutral", score: 0 };

/** Reason enough by itself to bring in a person. */
export function isVeryNegative(score: number): boolean {
  return score <= veryNegative;
}

/**
 * Where it goes, by the scores of the last messages, newest first: the mean of up to three against that of as many before them; steady
 * when they differ by less than 0.2.
 */
export function trendOf(scores: readonly number[]): "rising" | "steady" | "falling" {
  const span = Math.min(trendSpan, Math.floor(scores.length / 2));
  if (span === 0) return "steady";
  const change = meanOf(scores.slice(0, span)) - meanOf(scores.slice(span, 2 * span));
  if (Math.abs(change) < trendStep) return "steady";
  return change > 0 ? "rising" : "falling";
}

/** What an analyzer's answer is worth: anything else than a number in -1 to 1 is worth nothing. */
export function soundScore(score: unknown): number | null {
  return typeof score === "number" && score >= -1 && score <= 1 ? score : null;
}

function labelFor(before: SentimentLabel, score: number, messages: number): SentimentLabel {
  if (messages < leastMessages) return "neutral";
  if (score >= enter) return "positive";
  if (score <= -enter) return "negative";
  const stays = (before === "positive" && score > 0) || (before === "negative" && score < 0);
  return stays ? before : "neutral";
}

/**
 * The mean began at zero, which weighs (1 - alpha)^messages still (Kingma and Ba, 2014, section 3). Four digits are shown, and the same
 * decide: a 0.2 that arithmetic left at 0.19999999999999998 is one.
 */
function scoreFrom(mean: number, messages: number): number {
  const score = Math.round((mean / (1 - (1 - alpha) ** messages)) * 10_000) / 10_000;
  // No JSON has a negative zero.
  return score === 0 ? 0 : score;
}

function meanOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
