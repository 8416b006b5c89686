export { addObservation, removeObservation } from "./commands.ts";
export { observationsModule } from "./descriptor.ts";
export { listObservations } from "./reads.ts";
export { observations, observationsByExpiry } from "./rows.ts";
export type { AddObservation, Observation } from "./types.ts";
