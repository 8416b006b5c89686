import { addObservation, removeObservation } from "./commands.ts";
import { listObservations } from "./reads.ts";
import {
  commandByIdAndInput,
  type CommandOptions,
  method,
  queryById,
} from "../operations/index.ts";

export const observationHandles = {
  contacts: {
    observations: queryById(listObservations),
    addObservation: commandByIdAndInput(addObservation),
    removeObservation: method(
      ({ change }) =>
        (id: string, observation_id: string, options?: CommandOptions) =>
          change(removeObservation, { id, observation_id }, options),
    ),
  },
};
