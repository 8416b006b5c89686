import { SentimentIntensityAnalyzer } from "vader-sentiment";
import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import { straightenApostrophes } from "../../src/kernel/text.ts";
import { carePhrases, noFeeling } from "./care-phrases.ts";

/** A feeling shows early; the rest of a long text would only take time. In characters. */
const longest = 2_000;
/** VADER's: what brings a sum of valences into -1 to 1. */
const alpha = 15;
/** What turns a feeling around. The package knows it in small letters alone: to it "Not happy" is happy. */
const negation =
  /\b(?:\w+n'?t|cannot|not|nope|none|nor|neither|never|nothing|nowhere|rarely|seldom|despite|without)\b/gi;

/**
 * Scores English by VADER (Hutto and Gilbert, 2014): a dictionary of words with negations, intensifiers and capitals; and on top of it the
 * phrases of people who write to a business, which sound of nothing to a dictionary: "where is my order?". Offline, and less than a tenth of
 * a millisecond for a usual message. Text in another language mostly scores 0.
 */
export function sentiment(): SentimentAnalyzer {
  return { score };
}

function score(text: string): number | null {
  const plain = straightenApostrophes(text.slice(0, longest));
  const care = carePhrases.reduce(
    (sum, { anyOf, weight }) => (anyOf.some((pattern) => pattern.test(plain)) ? sum + weight : sum),
    0,
  );
  const { compound } = SentimentIntensityAnalyzer.polarity_scores(readable(plain));
  if (compound === 0 && care === 0 && !/\p{L}/u.test(plain)) return null;
  const sum = valenceOf(compound) + care;
  return sum / Math.sqrt(sum * sum + alpha);
}

/** What of a text is for the dictionary. */
function readable(text: string): string {
  const felt = noFeeling.reduce((rest, pattern) => rest.replaceAll(pattern, " "), text);
  const known = felt.replaceAll(negation, (word) => word.toLowerCase());
  // Whoever asks when it will be ready, or how many people fit in, is not glad of it.
  const isGlad = (sentence: string): boolean =>
    SentimentIntensityAnalyzer.polarity_scores(sentence).compound > 0;
  const sentences = known.split(/(?<=[.!?])/);
  return sentences.map((each) => (each.endsWith("?") && isGlad(each) ? "?" : each)).join("");
}

/** The sum of valences that VADER made this of. Kept short of ±1, which would be infinitely many words. */
function valenceOf(compound: number): number {
  const bounded = Math.min(Math.max(compound, -0.999), 0.999);
  return bounded * Math.sqrt(alpha / (1 - bounded * bounded));
}
