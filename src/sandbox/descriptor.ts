import { sandboxHandles } from "./handles.ts";
import { sandboxRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const sandboxModule: Module<object, typeof sandboxHandles> = {
  tags: [{ name: "Sandbox", description: "Simulation tools for sandbox keys." }],
  routes: sandboxRoutes,
  handles: sandboxHandles,
};
