import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import { longest } from "./faults.ts";
import type { World } from "./world.ts";

/** Hears something in every text, the same each time; now and then it takes long, fails or has nothing to say. */
export function analyzer(world: World): SentimentAnalyzer {
  const { dice, clock } = world;
  return {
    async score(text) {
      const { analyzerFails, analyzerSlow } = world.faults;
      if (dice.chance(analyzerSlow)) await clock.sleep(dice.between(1, longest.score));
      if (!dice.chance(analyzerFails)) return heardIn(text);
      if (dice.chance(0.5)) throw new Error("the analyzer fails");
      return null;
    },
  };
}

function heardIn(text: string): number {
  const sum = [...text].reduce((so, letter) => (so * 31 + (letter.codePointAt(0) ?? 0)) % 2_001, 7);
  return sum / 1_000 - 1;
}
