/** What a test of an application, or of an adapter, needs in place of the world. */
import type { Random } from "../ports/index.ts";
import { seededRandom } from "./seeded-random.ts";
import { virtualClock } from "./virtual-clock.ts";
import type { Time, VirtualClock } from "./virtual-clock.ts";

export { seededRandom, virtualClock };
export { storageConformance } from "./storage-conformance/index.ts";
export { transportConformance } from "./transport-conformance/index.ts";
export type {
  CarrierCallbacks,
  Fate,
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
 * Virtual time and seeded randomness, in place of `system()`: `new MessagingEngine({ storage, transports, ...simulated() })`.
 * One seed and one history of calls give the same ids, times and order, each time.
 */
export function simulated({
  seed = 1,
  start,
}: { readonly seed?: number; readonly start?: Time } = {}): Simulated {
  return { clock: virtualClock(start), random: seededRandom(seed) };
}
