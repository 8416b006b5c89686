import { privacyJobs } from "./jobs.ts";
import { privacyHandles } from "./handles.ts";
import { privacyRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const privacyModule: Module<typeof privacyJobs, typeof privacyHandles> = {
  jobs: privacyJobs,
  routes: privacyRoutes,
  handles: privacyHandles,
};
