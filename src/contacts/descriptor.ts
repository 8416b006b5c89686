import {
  command,
  commandByIdAndInput,
  list,
  method,
  queryById,
  type ApiRoute,
  type Module,
} from "../operations/index.ts";
import { createContact, updateContact } from "./commands.ts";
import { consentEvidence, consents } from "./consent/rows.ts";
import { importResultSchema, type ImportContact } from "./import/import-types.ts";
import { importContactRows, importContacts } from "./import/import.ts";
import { getContact, listContacts } from "./reads.ts";
import { contactLabels, contacts, identities } from "./rows.ts";
import { searchContacts } from "./search/search.ts";
import { contactPageSchema, contactSchema } from "./types.ts";

const tag = "Contacts";
const read = { tag, scopes: ["contacts:read"] } as const;
const write = { tag, scopes: ["contacts:write"] } as const;
const contact = { response: contactSchema } as const;

const contactRoutes: readonly ApiRoute[] = [
  {
    ...write,
    ...contact,
    method: "POST",
    path: "/v1/contacts",
    operation: createContact,
    summary: "Create a contact",
    description:
      "Requires a phone number, an email address or a name. If another contact has the number, " +
      "the response is a `conflict` with that contact's id.",
    example: {
      phone: "+15005550001",
      name: "Ann Archer",
      time_zone: "Europe/Berlin",
      labels: ["vip"],
      attributes: { customer_id: "1042" },
    },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts",
    operation: listContacts,
    summary: "List contacts",
    description: "Newest first. Merged contacts are left out.",
    response: contactPageSchema,
  },
  {
    ...read,
    ...contact,
    method: "GET",
    path: "/v1/contacts/:id",
    operation: getContact,
    summary: "Get a contact",
    description: "A merged contact has no data except `merged_into`.",
  },
  {
    ...write,
    ...contact,
    method: "PATCH",
    path: "/v1/contacts/:id",
    operation: updateContact,
    summary: "Update a contact",
    description:
      "A number that the contact gives up belongs to no contact. A message from it creates a new " +
      "contact. Consent stays with the number.",
    example: { email: "ann@example.com", language: "en-GB" },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/contacts/search",
    operation: searchContacts,
    summary: "Search contacts",
    description:
      "Searches the words of names, email addresses, phone numbers and attributes, and prefixes " +
      "of phone numbers. Every word of `q` must match a word of the contact or the start of one. " +
      "Case and accents are ignored. Results are ordered by the number of whole words that " +
      "match, then by where they match (name, address, attributes), then newest first. The " +
      "response is one page without a cursor; add words or filters to narrow the search. When " +
      "thousands of contacts match a word, a sample of them is ranked and filtered.",
    response: contactPageSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/contacts/import",
    operation: importContacts,
    rows: importContactRows,
    summary: "Import contacts",
    description:
      "Creates or updates each contact by its phone number. An update changes only the given " +
      "fields. Each contact is reported separately, and an invalid one does not affect the " +
      "others. A contact that was imported before is `unchanged`, so an interrupted import " +
      "can simply be sent again. Send large imports as `application/x-ndjson`, with one " +
      "`ImportContact` per line. The response then has one `ImportReport` per line as the " +
      'import proceeds, and at the end `{"result": …}` with the counts, or `{"error": …}` ' +
      "with the problem that ended it early. Such a request takes no idempotency key, " +
      "because it can be repeated without one.",
    body: "batch",
    response: importResultSchema,
    example: {
      contacts: [
        {
          phone: "+15005550001",
          name: "Ann Archer",
          consent: { status: "opted_in", detail: "Sign-up form of 2026-01-31" },
        },
        { phone: "+15005550002", name: "Bo Berg" },
      ],
    },
  },
];

const contactHandles = {
  contacts: {
    create: command(createContact),
    get: queryById(getContact),
    search: list(searchContacts),
    import: method(
      ({ rows }) =>
        (contacts: Iterable<ImportContact> | AsyncIterable<ImportContact>) =>
          rows(importContactRows, contacts),
    ),
    list: list(listContacts),
    update: commandByIdAndInput(updateContact),
  },
};

export const contactsModule: Module<object, typeof contactHandles> = {
  collections: [contacts, contactLabels, identities, consents, consentEvidence],
  tags: [{ name: "Contacts", description: "The people that an account exchanges messages with." }],
  routes: contactRoutes,
  handles: contactHandles,
};
