import { consentRoutes } from "./routes.ts";
import type { Module } from "../operations/module.ts";

export const consentsModule: Module = {
  routes: [...consentRoutes],
};
