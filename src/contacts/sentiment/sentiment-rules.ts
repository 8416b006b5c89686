/** How the sentiment of a contact follows from the scores of the contact's messages. */
import type { Sentiment, SentimentLabel } from "./sentiment-types.ts";

/** The sentiment state after the scores of a contact's messages, in order. */
export interface SentimentState {
  readonly label: SentimentLabel;
  /** The exponentially weighted mean, before the correction for its start at zero. */
  readonly mean: number;
  readonly messages: number;
}

/** The weight of the newest message. */
const alpha = 0.4;
/**
 * The score at which a label other than neutral begins. It ends when the mean is back at zero. This
 * hysteresis prevents a score near the threshold from switching the label back and forth.
 */
const enter = 0.2;
/** A single message is not enough for a label. */
const minMessages = 2;
const veryNegative = -0.6;
/** A trend compares up to this many messages with as many before them. */
const trendSpan = 3;
const trendStep = 0.2;

/** Returns the sentiment state after one more message. `score` is from -1 to 1. */
export function addScore(state: SentimentState | null, score: number): SentimentState {
  const messages = (state?.messages ?? 0) + 1;
  const mean = (1 - alpha) * (state?.mean ?? 0) + alpha * score;
  return {
    label: labelFor(state?.label ?? "neutral", scoreFrom(mean, messages), messages),
    mean,
    messages,
  };
}

/** The public sentiment of a state. */
export function sentimentOf({ label, mean, messages }: SentimentState): Sentiment {
  return { label, score: scoreFrom(mean, messages) };
}

/** The sentiment before the first message. */
export const neutralSentiment: Sentiment = { label: "neutral", score: 0 };

/** Whether a single score is negative enough to hand the conversation to a person. */
export function isVeryNegative(score: number): boolean {
  return score <= veryNegative;
}

/**
 * Returns the trend of the scores of the latest messages, newest first. It compares the mean of up
 * to three scores with the mean of as many before them. A difference below 0.2 is steady.
 */
export function trendOf(scores: readonly number[]): "rising" | "steady" | "falling" {
  const span = Math.min(trendSpan, Math.floor(scores.length / 2));
  if (span === 0) return "steady";
  const change = meanOf(scores.slice(0, span)) - meanOf(scores.slice(span, 2 * span));
  if (Math.abs(change) < trendStep) return "steady";
  return change > 0 ? "rising" : "falling";
}

/** Returns the score of an analyzer, or null unless it is a number from -1 to 1. */
export function validScore(score: unknown): number | null {
  return typeof score === "number" && score >= -1 && score <= 1 ? score : null;
}

function labelFor(before: SentimentLabel, score: number, messages: number): SentimentLabel {
  if (messages < minMessages) return "neutral";
  if (score >= enter) return "positive";
  if (score <= -enter) return "negative";
  const stays = (before === "positive" && score > 0) || (before === "negative" && score < 0);
  return stays ? before : "neutral";
}

/**
 * Corrects the mean for its start at zero, which still weighs (1 - alpha)^messages (Kingma and Ba,
 * 2014, section 3). The score is rounded to four digits before it is shown or compared, so that a
 * 0.2 that floating point left at 0.19999999999999998 reaches the threshold.
 */
function scoreFrom(mean: number, messages: number): number {
  const score = Math.round((mean / (1 - (1 - alpha) ** messages)) * 10_000) / 10_000;
  // JSON would lose the sign of a negative zero.
  return score === 0 ? 0 : score;
}

function meanOf(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
