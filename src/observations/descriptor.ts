import { observations } from "./rows.ts";
import { observationRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const observationsModule: Module = {
  collections: [observations],
  routes: observationRoutes,
};
