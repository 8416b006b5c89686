export type { MergePreview } from "./merge-types.ts";
export { reapJob } from "./job-orders.ts";
