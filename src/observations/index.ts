export { observations, observationsByExpiry } from "./rows.ts";
export type { AddObservation, Observation } from "./types.ts";
