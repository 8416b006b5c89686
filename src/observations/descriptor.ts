import { observations } from "./rows.ts";
import { observationRoutes } from "./routes.ts";
import {
  commandByIdAndInput,
  type CommandOptions,
  method,
  type Module,
  queryByIdAndInput,
} from "../operations/index.ts";
import { addObservation, removeObservation } from "./commands.ts";
import { listObservations } from "./reads.ts";

const observationHandles = {
  contacts: {
    observations: queryByIdAndInput(listObservations),
    addObservation: commandByIdAndInput(addObservation),
    removeObservation: method(
      ({ change }) =>
        (id: string, observation_id: string, options?: CommandOptions) =>
          change(removeObservation, { id, observation_id }, options),
    ),
  },
};

export const observationsModule: Module<object, typeof observationHandles> = {
  collections: [observations],
  routes: observationRoutes,
  handles: observationHandles,
};
