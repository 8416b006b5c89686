import type { ConsentOptions, QuietHours } from "../../src/options.ts";
import type { Dice } from "./dice.ts";

/** How the host has set up its engines: all of them alike. */
export interface Terms {
  readonly consent: Required<Pick<ConsentOptions, "scope" | "honourNearMatches">>;
  /** The carrier answers STOP itself. */
  readonly carrierConfirms: boolean;
  readonly quietHours: QuietHours | undefined;
  /** The host has a rule of its own. */
  readonly hasRule: boolean;
  readonly scoresSentiment: boolean;
}

/** What clocks show when a history begins, in minutes: where nobody said where they live, in Berlin and in Kolkata. */
const midnights = [0, 0, 60, 330] as const;

function timeOfDay(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((each) => String(each).padStart(2, "0")).join(":");
}

export function drawTerms(dice: Dice): Terms {
  const from = dice.pick(midnights) + dice.between(0, 3);
  const to = from + dice.between(1, 6);
  return {
    consent: { scope: dice.chance(0.25) ? "sender" : "account", honourNearMatches: dice.chance(0.3) },
    carrierConfirms: dice.chance(0.15),
    quietHours: dice.chance(0.4) ? { from: timeOfDay(from), to: timeOfDay(to) } : undefined,
    hasRule: dice.chance(0.4),
    scoresSentiment: dice.chance(0.6),
  };
}
