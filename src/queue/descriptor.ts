import { jobs } from "./rows.ts";

export const queueModule = {
  collections: [jobs],
} as const;
