import { createContact } from "./create.ts";
import { getContact } from "./get.ts";
import { listContacts } from "./list.ts";
import { updateContact } from "./update.ts";
import { contactPageSchema, contactSchema } from "./types.ts";
import type { Route } from "../operations/index.ts";

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
];
