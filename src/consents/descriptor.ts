import { consentRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const consentsModule: Module = {
  routes: consentRoutes,
};
