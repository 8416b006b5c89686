import { privacyRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const privacyModule: Module = {
  routes: [...privacyRoutes],
};
