import { privacyRoutes } from "./routes.ts";
import type { Module } from "../operations/module.ts";

export const privacyModule: Module = {
  routes: [...privacyRoutes],
};
