import type { Clock } from "../../src/ports/clock.ts";
import type { Random } from "../../src/ports/random.ts";
import { systemClock } from "./system-clock.ts";
import { systemRandom } from "./system-random.ts";

export interface System {
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The machine's clock and randomness. The engine uses them by default. Tests give it `simulated()` of
 * `tidings/testing` instead.
 *
 * A sleeping clock keeps the process alive, so a started engine does too, until it is stopped.
 */
export function system(): System {
  return { clock: systemClock(), random: systemRandom() };
}
