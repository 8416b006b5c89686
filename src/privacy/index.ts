export { privacyModule } from "./descriptor.ts";
export { eraseContact } from "./erase.ts";
export { reapJob } from "./jobs.ts";
export { mergeContacts } from "./merge.ts";
export { redactMessage } from "./redact.ts";
