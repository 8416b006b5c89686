import type { Dice } from "../../adapters/testing/index.ts";
import type { CreateSender, EngineOptions } from "../../src/index.ts";
import type { ConsentOptions, QuietHours } from "../../src/operations/consent-options.ts";
import type { HistoryChunks } from "../../src/operations/runtime.ts";
import type { Route } from "../../src/ports/route.ts";

/** The transports that each engine has to the carrier. */
export const primaryTransport = "carrier";
export const backupTransport = "spare";

/** The phone numbers of the account's senders. */
export const senderAddresses = ["+15550001000", "+15550002000"] as const;

/** For how long after it was closed an inbound message reopens a conversation. */
export const reopenHours = 1;

/**
 * Small chunks, so that the short histories of contacts are erased in several transactions, and
 * that jobs complete some redactions.
 */
export const historyChunks: HistoryChunks = {
  moved: 2,
  rows: 1,
  parts: 3,
  deliveries: 2,
  responses: 2,
};

type SenderLimits = Required<Pick<CreateSender, "messages_per_second" | "daily_cap">>;

/** How the host application configures its engines. All engines of a history are alike. */
export interface Settings {
  readonly consent: Required<Pick<ConsentOptions, "scope" | "honorNearMatches">>;
  /** The carrier itself confirms opt-outs. */
  readonly carrierConfirmsOptOuts: boolean;
  readonly quietHours: QuietHours | undefined;
  readonly hasPolicy: boolean;
  readonly scoresSentiment: boolean;
  /** It has a durable consumer of events. */
  readonly hasConsumer: boolean;
  readonly routes: readonly Route[];
  /** The senders form a pool, over which new contacts are spread. */
  readonly hasPool: boolean;
  /** How many jobs an engine runs at once, in all and in one lane. */
  readonly slots: Required<Pick<EngineOptions, "concurrency" | "laneConcurrency">>;
  /** The first limits of the first sender. */
  readonly senderLimits: SenderLimits;
  /** The limits of the first sender change now and then. */
  readonly changesLimits: boolean;
}

/**
 * The time of day at the start of a history, in minutes, for contacts without a time zone, in
 * Berlin and in Kolkata.
 */
const startOfHistory = [0, 0, 60, 330] as const;

/** The time some minutes after midnight, or before it. */
function timeOfDay(minutes: number): string {
  const ofDay = (minutes + 24 * 60) % (24 * 60);
  return [Math.floor(ofDay / 60), ofDay % 60]
    .map((each) => String(each).padStart(2, "0"))
    .join(":");
}

export function drawSettings(dice: Dice): Settings {
  const from = dice.pick(startOfHistory) + dice.between(-2, 3);
  const to = from + dice.between(1, 6);
  return {
    consent: {
      scope: dice.chance(0.25) ? "sender" : "account",
      honorNearMatches: dice.chance(0.3),
    },
    carrierConfirmsOptOuts: dice.chance(0.15),
    quietHours: dice.chance(0.4) ? { from: timeOfDay(from), to: timeOfDay(to) } : undefined,
    hasPolicy: dice.chance(0.4),
    scoresSentiment: dice.chance(0.6),
    hasConsumer: dice.chance(0.2),
    routes: dice.chance(0.5) ? drawRoutes(dice) : [],
    hasPool: dice.chance(0.4),
    slots: dice.chance(0.35) ? drawFewSlots(dice) : { concurrency: 256, laneConcurrency: 64 },
    senderLimits: drawLimits(dice, 0.4, 0.05),
    changesLimits: dice.chance(0.3),
  };
}

/** Each limit exists with a probability. */
export function drawLimits(dice: Dice, hasRate: number, hasCap: number): SenderLimits {
  return {
    messages_per_second: dice.chance(hasRate) ? dice.pick([0.1, 0.5, 1, 1.5, 3]) : null,
    daily_cap: dice.chance(hasCap) ? dice.between(3, 20) : null,
  };
}

/** Both transports in order; or, for messages from the first sender only, in reverse order. */
function drawRoutes(dice: Dice): Route[] {
  const [first] = senderAddresses;
  const both = [primaryTransport, backupTransport];
  const fallBackAfter = dice.chance(0.5) ? [] : dice.pick(fallBacks);
  const reversed = { from: [first], transports: both.toReversed(), fallBackAfter };
  const usual = { transports: both, fallBackAfter };
  return dice.chance(0.5) ? [usual] : [reversed, usual];
}

const fallBacks = [["ambiguous"], ["undelivered"], ["ambiguous", "undelivered"]] as const;

/** Whether a message may be sent over a second transport though the first may have sent it. */
export function fallsBack({ routes }: Settings): boolean {
  return routes.some(({ fallBackAfter = [] }) => fallBackAfter.length > 0);
}

/** So few that most jobs wait for others to end. */
function drawFewSlots(dice: Dice): Settings["slots"] {
  return { concurrency: dice.between(1, 8), laneConcurrency: dice.between(1, 3) };
}
