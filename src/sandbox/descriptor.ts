import { sandboxRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const sandboxModule: Module = {
  tags: [{ name: "Sandbox", description: "Simulation tools for sandbox keys." }],
  routes: sandboxRoutes,
};
