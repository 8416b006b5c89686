import { pageSchema } from "../kernel/index.ts";
import {
  commandByIdAndInput,
  listById,
  method,
  type ApiRoute,
  type CommandOptions,
  type Module,
} from "../operations/index.ts";
import { addObservation, removeObservation } from "./commands.ts";
import { listObservations } from "./reads.ts";
import { observations } from "./rows.ts";
import { observationSchema } from "./types.ts";

const observationRoutes: readonly ApiRoute[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/observations",
    operation: listObservations,
    summary: "List a contact's observations",
    description: "Lists the observations newest first, without expired ones.",
    response: pageSchema(observationSchema).meta({ id: "ObservationPage" }),
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "POST",
    path: "/v1/contacts/:id/observations",
    operation: addObservation,
    summary: "Add an observation",
    response: observationSchema,
    example: {
      content: "Prefers appointments in the morning.",
      kind: "preference",
      confidence: 0.9,
    },
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "DELETE",
    path: "/v1/contacts/:id/observations/:observation_id",
    operation: removeObservation,
    summary: "Remove an observation",
  },
];

const observationHandles = {
  contacts: {
    observations: listById(listObservations),
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
