import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import { maxDelayMs } from "./faults.ts";
import type { World } from "./world.ts";

/**
 * A sentiment analyzer that always scores a text alike. It may be slow, fail, or return no score.
 */
export function sentimentAnalyzer(world: World): SentimentAnalyzer {
  return {
    async score(text) {
      const { dice, clock } = world;
      if (world.occurs("analyzerSlow", "sentiment")) {
        await clock.sleep(dice.between(1, maxDelayMs.sentiment));
      }
      if (!world.occurs("analyzerFails", "sentiment")) return scoreOf(text);
      if (dice.chance(0.5)) throw new Error("the analyzer fails");
      return null;
    },
  };
}

/** A score from -1 to 1 that depends on nothing but the text. */
function scoreOf(text: string): number {
  const hash = [...text].reduce((h, char) => (h * 31 + (char.codePointAt(0) ?? 0)) % 2_001, 7);
  return hash / 1_000 - 1;
}
