import { SentimentIntensityAnalyzer } from "vader-sentiment";
import { refuseArguments, straightenApostrophes } from "../../src/kernel/index.ts";
import type { SentimentAnalyzer } from "../../src/ports/index.ts";
import { customerPhrases, neutralPhrases } from "./customer-phrases.ts";

/**
 * How much of a text is scored, in characters. The rest of a long text rarely changes the score.
 */
const maxLength = 2_000;
/** VADER's constant for mapping a sum of valences to the range from -1 to 1. */
const alpha = 15;
/**
 * Words that negate. The package knows them only in lower case, and would score "Not happy" as
 * happy.
 */
const negations =
  "cannot not nope none nor neither never nothing nowhere rarely seldom despite without";
const negation = new RegExp(String.raw`\b(?:\w+n'?t|${negations.replaceAll(" ", "|")})\b`, "gi");

/**
 * Returns an analyzer that scores English text with VADER (Hutto and Gilbert, 2014), a dictionary
 * of words with rules for negations, intensifiers and capitals. It adds scores for phrases that
 * customers write to a business and that a dictionary scores as neutral, such as "where is my
 * order?". It works offline and takes less than 0.1 ms for a typical message. Text in other
 * languages mostly scores 0.
 */
export function sentiment(): SentimentAnalyzer;
export function sentiment(...given: readonly unknown[]): SentimentAnalyzer {
  refuseArguments("sentiment", given);
  return { score };
}

/**
 * Returns a score from -1 (negative) to 1 (positive), or null for a text without letters or other
 * signs of sentiment.
 */
function score(text: string): number | null {
  const plain = straightenApostrophes(text.slice(0, maxLength));
  const fromPhrases = customerPhrases.reduce(
    (sum, { anyOf, weight }) => (anyOf.some((pattern) => pattern.test(plain)) ? sum + weight : sum),
    0,
  );
  const { compound } = SentimentIntensityAnalyzer.polarity_scores(readable(plain));
  if (compound === 0 && fromPhrases === 0 && !/\p{L}/u.test(plain)) return null;
  const sum = valenceOf(compound) + fromPhrases;
  return sum / Math.sqrt(sum * sum + alpha);
}

/** Prepares a text for the dictionary. */
function readable(text: string): string {
  const relevant = neutralPhrases.reduce((rest, pattern) => rest.replaceAll(pattern, " "), text);
  const known = relevant.replaceAll(negation, (word) => word.toLowerCase());
  // A positive word in a question, such as "When will it be ready?", is rarely praise.
  const isPositive = (sentence: string): boolean =>
    SentimentIntensityAnalyzer.polarity_scores(sentence).compound > 0;
  const sentences = known.split(/(?<=[.!?])/);
  return sentences.map((each) => (each.endsWith("?") && isPositive(each) ? "?" : each)).join("");
}

/**
 * Returns the sum of valences behind VADER's score. It stays below ±1, which stands for an infinite
 * sum.
 */
function valenceOf(compound: number): number {
  const bounded = Math.min(Math.max(compound, -0.999), 0.999);
  return bounded * Math.sqrt(alpha / (1 - bounded * bounded));
}
