import { engines } from "./engine-register.ts";
import { jobs } from "./rows.ts";

export const queueModule = {
  collections: [jobs, engines],
} as const;
