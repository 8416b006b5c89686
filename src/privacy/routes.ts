import { contactSchema } from "../contacts/index.ts";
import { messageSchema } from "../messages/index.ts";
import type { Route } from "../operations/index.ts";
import { eraseContact } from "./erase.ts";
import { mergeContacts } from "./merge.ts";
import { redactMessage } from "./redact.ts";

export const privacyRoutes: readonly Route[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:write"],
    method: "DELETE",
    path: "/v1/contacts/:id",
    operation: eraseContact,
    summary: "Erase a contact",
    description:
      "Everything that tells of it is gone for good, and nothing that is queued for it is sent: counts stay, and that " +
      "its addresses have opted out. Answers when nothing is left.",
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
      "The other's history and addresses move here, and it fills what this one has no word on. Its id goes on standing " +
      "for this contact where messages are sent and history is read. Answers when all of it has moved.",
  },
  {
    tag: "Messages",
    scopes: ["messages:write"],
    response: messageSchema,
    method: "POST",
    path: "/v1/messages/:id/redact",
    operation: redactMessage,
    summary: "Redact a message",
    description: "Its body and media are gone for good; the timeline stays.",
  },
];
