import { contactSchema } from "../contacts/index.ts";
import { messageSchema } from "../messages/index.ts";
import {
  commandById,
  method,
  type ApiRoute,
  type CommandOptions,
  type Module,
} from "../operations/index.ts";
import { eraseContact } from "./erase.ts";
import { privacyJobs } from "./jobs.ts";
import { mergePreviewSchema } from "./merge-types.ts";
import { mergeContacts } from "./merge.ts";
import { previewMerge } from "./preview-merge.ts";
import { redactMessage } from "./redact.ts";

const privacyRoutes: readonly ApiRoute[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "DELETE",
    path: "/v1/contacts/:id",
    operation: eraseContact,
    summary: "Erase a contact",
    description:
      "Permanently removes the contact's data. Its queued and scheduled messages are not sent. " +
      "Counts stay, and so do events without names, addresses and texts, the consents of its " +
      "addresses under keyed hashes, and idempotency keys until they expire. The response is " +
      "sent when everything is removed.",
  },
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    response: contactSchema,
    method: "POST",
    path: "/v1/contacts/:id/merge",
    operation: mergeContacts,
    summary: "Merge another contact into this one",
    description:
      "The other contact's history and addresses move to this one. Its fields fill those that " +
      "are empty here. Its id still works as a recipient and for reading history. The response " +
      "is sent when everything has moved.",
    example: { contact_id: "ct_01KJPWD6M04SCGJ6C24SRZVBHY" },
  },
  {
    tag: "Contacts",
    scopes: ["contacts:read", "conversations:read"],
    response: mergePreviewSchema,
    method: "GET",
    path: "/v1/contacts/:id/merge-preview",
    operation: previewMerge,
    summary: "Preview a merge",
    description:
      "Returns the contact that the merge would result in, and the conversations that it would " +
      "close. It fails as the merge would. Nothing is changed.",
  },
  {
    tag: "Messages",
    scopes: ["messages:write"],
    response: messageSchema,
    method: "POST",
    path: "/v1/messages/:id/redact",
    operation: redactMessage,
    summary: "Redact a message",
    description:
      "Permanently removes the body and media. The timeline stays. A playbook in progress that " +
      "may contain the text ends.",
  },
];

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
    previewMerge: method(
      ({ read }) =>
        (id: string, contact_id: string) =>
          read(previewMerge, { id, contact_id }),
    ),
    erase: commandById(eraseContact),
  },
};

export const privacyModule: Module<typeof privacyJobs, typeof privacyHandles> = {
  jobs: privacyJobs,
  routes: privacyRoutes,
  handles: privacyHandles,
};
