import { addObservation } from "../observations/add.ts";
import { createContact } from "./create.ts";
import { getContact } from "./get.ts";
import { listContactConversations } from "../conversations/list-of-contact.ts";
import { listContactMessages } from "../messages/list-of-contact.ts";
import { listContacts } from "./list.ts";
import { listObservations } from "../observations/list.ts";
import { removeObservation } from "../observations/remove.ts";
import { updateContact } from "./update.ts";
import { contactPageSchema, contactSchema } from "./types.ts";
import { conversationSchema } from "../conversations/types.ts";
import { messageSchema } from "../messages/types.ts";
import { observationSchema } from "../observations/types.ts";
import { pageSchema } from "../kernel/fields.ts";
import { eraseContact } from "../privacy/erase.ts";
import { mergeContacts } from "../privacy/merge.ts";
import type { Route } from "../operations/api-route.ts";

const tag = "Contacts";
const read = { tag, scopes: ["contacts:read"] } as const;
const write = { tag, scopes: ["contacts:write"] } as const;
const contact = { response: contactSchema } as const;

export const contactRoutes: readonly Route[] = [
  {
    ...write,
    ...contact,
    method: "POST",
    path: "/v1/contacts",
    operation: createContact,
    summary: "Create a contact",
    description:
      "A phone number, an email address or a name is needed. A number that another contact has is a `conflict`, with " +
      "that contact's id.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts",
    operation: listContacts,
    summary: "List contacts",
    description: "Newest first. Merged contacts are not among them.",
    response: contactPageSchema,
  },
  {
    ...read,
    ...contact,
    method: "GET",
    path: "/v1/contacts/:id",
    operation: getContact,
    summary: "Get a contact",
    description: "One that was merged is empty but for `merged_into`.",
  },
  {
    ...write,
    ...contact,
    method: "PATCH",
    path: "/v1/contacts/:id",
    operation: updateContact,
    summary: "Edit a contact",
    description:
      "A number that it gives up is nobody's: who writes from it is a new contact. What a number allows stays with it.",
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/contacts/:id",
    operation: eraseContact,
    summary: "Erase a contact",
    description:
      "Everything that tells of it is gone for good, and nothing that is queued for it is sent: counts stay, and that " +
      "its addresses have opted out. Answers when nothing is left.",
  },
  {
    ...write,
    ...contact,
    method: "POST",
    path: "/v1/contacts/:id/merge",
    operation: mergeContacts,
    summary: "Merge another contact into this one",
    description:
      "The other's history and addresses move here, and it fills what this one has no word on. Its id goes on standing " +
      "for this contact where messages are sent and history is read. Answers when all of it has moved.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts/:id/conversations",
    operation: listContactConversations,
    summary: "List a contact's conversations",
    description:
      "The one that began last first. Of a merged contact, those of the one that it is now.",
    response: pageSchema(conversationSchema).meta({ id: "ContactConversationPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts/:id/messages",
    operation: listContactMessages,
    summary: "List a contact's messages",
    description:
      "On all channels, newest first. Of a merged contact, those of the one that it is now.",
    response: pageSchema(messageSchema).meta({ id: "ContactMessagePage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts/:id/observations",
    operation: listObservations,
    summary: "List what was noticed about a contact",
    description: "Newest first, without what has expired.",
    response: pageSchema(observationSchema).meta({ id: "ObservationPage" }),
  },
  {
    ...write,
    method: "POST",
    path: "/v1/contacts/:id/observations",
    operation: addObservation,
    summary: "Note something about a contact",
    response: observationSchema,
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/contacts/:id/observations/:observation_id",
    operation: removeObservation,
    summary: "Take back what was noted",
  },
];
