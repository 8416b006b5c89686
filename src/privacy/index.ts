export { privacyModule } from "./descriptor.ts";
export { eraseContact } from "./erase.ts";
export { contactJobs } from "./jobs.ts";
export { mergeContacts } from "./merge.ts";
export { reap, reapJob } from "./reap-job.ts";
export { redactMessage } from "./redact.ts";
