import type { CreateSender } from "../../src/index.ts";
import type { ConsentOptions, QuietHours } from "../../src/operations/consent-settings.ts";
import type { Route } from "../../src/ports/route.ts";
import { senderAddresses } from "./actors/senders.ts";
import type { Dice } from "./dice.ts";
import { carrierName, spareName } from "./line.ts";

/** How the host has set up its engines: all of them alike. */
export interface Terms {
  readonly consent: Required<Pick<ConsentOptions, "scope" | "honourNearMatches">>;
  /** The carrier answers STOP itself. */
  readonly carrierConfirms: boolean;
  readonly quietHours: QuietHours | undefined;
  /** The host has a rule of its own. */
  readonly hasRule: boolean;
  readonly scoresSentiment: boolean;
  readonly routes: readonly Route[];
  /** Contacts that nobody has written to are spread over the senders. */
  readonly hasPool: boolean;
  /** Of the first sender. */
  readonly pace: Required<Pick<CreateSender, "messages_per_second" | "daily_cap">>;
}

/** How long after it was closed what comes in opens a conversation again. */
export const reopenHours = 1;

/** What clocks show when a history begins, in minutes: where nobody said where they live, in Berlin and in Kolkata. */
const midnights = [0, 0, 60, 330] as const;

function timeOfDay(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60]
    .map((each) => String(each).padStart(2, "0"))
    .join(":");
}

export function drawTerms(dice: Dice): Terms {
  const from = dice.pick(midnights) + dice.between(0, 3);
  const to = from + dice.between(1, 6);
  return {
    consent: {
      scope: dice.chance(0.25) ? "sender" : "account",
      honourNearMatches: dice.chance(0.3),
    },
    carrierConfirms: dice.chance(0.15),
    quietHours: dice.chance(0.4) ? { from: timeOfDay(from), to: timeOfDay(to) } : undefined,
    hasRule: dice.chance(0.4),
    scoresSentiment: dice.chance(0.6),
    routes: dice.chance(0.5) ? drawRoutes(dice) : [],
    hasPool: dice.chance(0.4),
    pace: {
      messages_per_second: dice.chance(0.4) ? dice.pick([0.1, 0.5, 1, 3]) : null,
      daily_cap: dice.chance(0.05) ? dice.between(3, 20) : null,
    },
  };
}

/** Where the carrier has two lines: one is the other's stand-in, for all or for what one sender sends. */
function drawRoutes(dice: Dice): Route[] {
  const [first] = senderAddresses;
  const both = [carrierName, spareName];
  const turned = { from: [first], transports: both.toReversed() };
  return dice.chance(0.5) ? [{ transports: both }] : [turned, { transports: both }];
}
