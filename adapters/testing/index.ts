/** Tools for tests of applications and adapters. */
import type { Random } from "../../src/ports/index.ts";
import { seededRandom } from "./seeded-random.ts";
import { isTime, virtualClock } from "./virtual-clock.ts";
import { option, optionsObject, parseOptions } from "../../src/kernel/index.ts";
import type { Time, VirtualClock } from "./virtual-clock.ts";

export { seededRandom, virtualClock };
export { storageConformance } from "./storage-conformance/index.ts";
export { transportConformance } from "./transport-conformance/index.ts";
export type {
  CarrierCallbacks,
  CarrierBehavior,
  Need,
  TakenMessage,
  TransportUnderTest,
} from "./transport-conformance/bench.ts";
export type { TransportConformance } from "./transport-conformance/index.ts";
export type { Time, VirtualClock };

/** The options `clock` and `random` of an engine under test. */
export interface Simulated {
  /** A clock that the test advances. */
  readonly clock: VirtualClock;
  /** Bytes that depend only on the seed. */
  readonly random: Random;
}

/** Options of `simulated()`. */
export interface SimulationOptions {
  /** Any number. The same seed gives the same ids. Default: 1. */
  readonly seed?: number;
  /** The time at which the clock stands at first. Default: 2026-01-01T00:00:00.000Z. */
  readonly start?: Time;
}

const optionsSchema = optionsObject({
  seed: option<number>("a number", (seed) => typeof seed === "number").default(1),
  start: option<Time>("a time in ISO 8601 or milliseconds, or a Date", isTime, {
    isQuoted: true,
  }).optional(),
});

/**
 * Virtual time and seeded randomness that replace `system()`: `new MessagingEngine({ storage,
 * transports, ...simulated() })`. The same seed and the same calls give the same ids, times and
 * order.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function simulated(options: SimulationOptions = {}): Simulated {
  const { seed, start } = parseOptions("simulated: ", optionsSchema, options);
  return { clock: virtualClock(start), random: seededRandom(seed) };
}
