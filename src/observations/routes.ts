import { pageSchema } from "../kernel/index.ts";
import type { Route } from "../operations/index.ts";
import { addObservation } from "./add.ts";
import { listObservations } from "./list.ts";
import { removeObservation } from "./remove.ts";
import { observationSchema } from "./types.ts";

export const observationRoutes: readonly Route[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/observations",
    operation: listObservations,
    summary: "List what was noticed about a contact",
    description: "Newest first, without what has expired.",
    response: pageSchema(observationSchema).meta({ id: "ObservationPage" }),
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "POST",
    path: "/v1/contacts/:id/observations",
    operation: addObservation,
    summary: "Note something about a contact",
    response: observationSchema,
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "DELETE",
    path: "/v1/contacts/:id/observations/:observation_id",
    operation: removeObservation,
    summary: "Take back what was noted",
  },
];
