import { optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { Random } from "../../../src/ports/index.ts";
import { seededRandom, seedOption } from "./seeded-random.ts";
import { timeOption, virtualClock, type Time, type VirtualClock } from "./virtual-clock.ts";

/** The options `clock` and `random` of an engine under test. */
export interface Simulated {
  /** A clock that the test advances. */
  readonly clock: VirtualClock;
  /** Bytes that depend only on the seed. */
  readonly random: Random;
}

/** Options of `simulated()`. */
export interface SimulationOptions {
  /**
   * Any number. The same seed gives the same ids.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * The time at which the clock begins.
   * @default "2026-01-01T00:00:00.000Z"
   */
  readonly start?: Time | undefined;
}

const optionsSchema = optionsObject({
  seed: seedOption.default(1),
  start: timeOption.optional(),
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
