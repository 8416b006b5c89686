export type { MergePreview } from "./merge-types.ts";
export { reapJob } from "./jobs.ts";
