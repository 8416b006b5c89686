import { privacyJobs } from "./jobs.ts";
import { privacyRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const privacyModule: Module<typeof privacyJobs> = {
  jobs: privacyJobs,

  routes: privacyRoutes,
};
