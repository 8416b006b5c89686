export { addObservation } from "./add.ts";
export { observationsModule } from "./descriptor.ts";
export { listObservations } from "./list.ts";
export { removeObservation } from "./remove.ts";
export { observations, observationsByExpiry } from "./rows.ts";
export type { AddObservation, Observation } from "./types.ts";
