import { searchContacts } from "./search.ts";
import { contactPageSchema, importResultSchema } from "./types.ts";
import { importContacts, importContactRows } from "./import.ts";
import type { Route } from "../operations/index.ts";

const tag = "Contacts";

export const contactSearchRoutes: readonly Route[] = [
  {
    tag,
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/search",
    operation: searchContacts,
    summary: "Search contacts",
    description:
      "By the words of names, email addresses, phone numbers and attributes, and by the beginning of a phone number. Every " +
      "word of `q` must be one of the contact's, or the beginning of one; case and accents don't count. First come those that " +
      "have most of the words whole, then those that have them in the name, then in an address, then in attributes; of those " +
      "that fit alike the newest. One page, without a cursor: of more, name more words. Of words that some thousand contacts " +
      "have, a sample of those contacts is ranked.",
    response: contactPageSchema,
  },
  {
    tag,
    scopes: ["contacts:write"],
    method: "POST",
    path: "/v1/contacts/import",
    operation: importContacts,
    rows: importContactRows,
    summary: "Import contacts",
    description:
      "Each by its phone number: one that is new is made, one that is known gets the fields that are given. Every contact is " +
      "reported by itself, a bad one harms no other, and what was imported before is `unchanged`: so an import that was cut " +
      "off is simply sent again. Large ones are sent as `application/x-ndjson`, an `ImportContact` a line, and are answered a " +
      'line each as they go: an `ImportReport`, and at the end `{"result": …}` with the counts, or `{"error": …}` with the ' +
      "problem that ended it early. Such a request takes no idempotency key: it can be repeated without one.",
    body: "batch",
    response: importResultSchema,
  },
];
