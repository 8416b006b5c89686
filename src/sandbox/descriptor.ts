import { sandboxRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const sandboxModule: Module = {
  tags: [{ name: "Sandbox", description: "A test bench: for sandbox keys only." }],
  routes: [...sandboxRoutes],
};
