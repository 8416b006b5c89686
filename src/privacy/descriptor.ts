import { privacyJobs } from "./jobs.ts";
import { privacyRoutes } from "./routes.ts";
import { commandById, type CommandOptions, method, type Module } from "../operations/index.ts";
import { eraseContact } from "./erase.ts";
import { mergeContacts } from "./merge.ts";
import { redactMessage } from "./redact.ts";

const privacyHandles = {
  messages: {
    redact: commandById(redactMessage),
  },
  contacts: {
    merge: method(
      ({ change }) =>
        (id: string, contact_id: string, options?: CommandOptions) =>
          change(mergeContacts, { id, contact_id }, options),
    ),
    erase: commandById(eraseContact),
  },
};

export const privacyModule: Module<typeof privacyJobs, typeof privacyHandles> = {
  jobs: privacyJobs,
  routes: privacyRoutes,
  handles: privacyHandles,
};
