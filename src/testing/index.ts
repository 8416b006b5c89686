/** Tools for tests of applications and adapters. */
import type { Random } from "../ports/index.ts";
import { seededRandom } from "./seeded-random.ts";
import { virtualClock } from "./virtual-clock.ts";
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

export interface Simulated {
  readonly clock: VirtualClock;
  readonly random: Random;
}

/**
 * Virtual time and seeded randomness that replace `system()`: `new MessagingEngine({ storage,
 * transports, ...simulated() })`. The same seed and the same calls give the same ids, times and
 * order. `seed` is 1 by default.
 */
export function simulated({
  seed = 1,
  start,
}: { readonly seed?: number; readonly start?: Time } = {}): Simulated {
  return { clock: virtualClock(start), random: seededRandom(seed) };
}
