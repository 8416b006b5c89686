export { privacyModule } from "./descriptor.ts";
export { reapJob } from "./jobs.ts";
