import { eraseContact } from "./erase.ts";
import { mergeContacts } from "./merge.ts";
import { redactMessage } from "./redact.ts";
import { commandById, type CommandOptions, method } from "../operations/index.ts";

export const privacyHandles = {
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
