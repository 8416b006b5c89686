import { consentHandles } from "./handles.ts";
import { consentRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const consentsModule: Module<object, typeof consentHandles> = {
  routes: consentRoutes,
  handles: consentHandles,
};
