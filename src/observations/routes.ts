import { pageSchema } from "../kernel/index.ts";
import type { ApiRoute } from "../operations/index.ts";
import { addObservation, removeObservation } from "./commands.ts";
import { listObservations } from "./reads.ts";
import { observationSchema } from "./types.ts";

export const observationRoutes: readonly ApiRoute[] = [
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
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "DELETE",
    path: "/v1/contacts/:id/observations/:observation_id",
    operation: removeObservation,
    summary: "Delete an observation",
  },
];
