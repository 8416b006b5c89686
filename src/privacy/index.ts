export { reapJob } from "./jobs.ts";
