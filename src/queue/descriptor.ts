import { engines } from "./engine-register.ts";
import { jobs } from "./jobs/rows.ts";

export const queueModule = {
  collections: [jobs, engines],
} as const;
