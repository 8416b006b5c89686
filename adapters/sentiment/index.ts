import { SentimentIntensityAnalyzer } from "vader-sentiment";
import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import { carePhrases, noFeeling } from "./care-phrases.ts";

/** A feeling shows early; the rest of a long text would only take time. In characters. */
const longest = 2_000;
/** VADER's: what brings a sum of valences into -1 to 1. */
const alpha = 15;

/**
 * Scores English by VADER (Hutto and Gilbert, 2014): a dictionary of words with negations, intensifiers and capitals; and on top of it the
 * phrases of people who write to a business, which sound of nothing to a dictionary: "where is my order?". Offline, and some ten
 * microseconds a message. Text in another language mostly scores 0.
 */
export function sentiment(): SentimentAnalyzer {
  return { score };
}

function score(text: string): number | null {
  const plain = text.slice(0, longest).replaceAll(/[‘’]/g, "'");
  const care = carePhrases.reduce((sum, { pattern, weight }) => (pattern.test(plain) ? sum + weight : sum), 0);
  const read = noFeeling.reduce((rest, pattern) => rest.replaceAll(pattern, " "), plain);
  const { compound } = SentimentIntensityAnalyzer.polarity_scores(read);
  if (compound === 0 && care === 0 && !/\p{L}/u.test(plain)) return null;
  const sum = valenceOf(compound) + care;
  return sum / Math.sqrt(sum * sum + alpha);
}

/** The sum of valences that VADER made this of. Kept short of ±1, which would be infinitely many words. */
function valenceOf(compound: number): number {
  const bounded = Math.min(Math.max(compound, -0.999), 0.999);
  return bounded * Math.sqrt(alpha / (1 - bounded * bounded));
}
