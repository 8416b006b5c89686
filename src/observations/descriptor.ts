import { observations } from "./rows.ts";
import { observationHandles } from "./handles.ts";
import { observationRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const observationsModule: Module<object, typeof observationHandles> = {
  collections: [observations],
  routes: observationRoutes,
  handles: observationHandles,
};
