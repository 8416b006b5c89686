/** Tools for tests of applications and adapters. */
export {
  seededRandom,
  simulated,
  type Simulated,
  type SimulationOptions,
  type Time,
  virtualClock,
  type VirtualClock,
} from "./simulated.ts";
export { storageConformance } from "./storage-conformance/index.ts";
export { transportConformance, type TransportConformance } from "./transport-conformance/index.ts";
export type {
  CarrierCallbacks,
  CarrierBehavior,
  Need,
  TakenMessage,
  TransportUnderTest,
} from "./transport-conformance/bench.ts";
