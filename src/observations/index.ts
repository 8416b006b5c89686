export {
  observationById,
  type ObservationRow,
  observations,
  observationsByExpiry,
} from "./rows.ts";
export type { AddObservation, Observation } from "./types.ts";
