import { consentEvidence, consents, contactLabels, contacts, identities } from "./rows.ts";
import { contactRoutes, contactSearchRoutes } from "./routes.ts";
import {
  command,
  commandByIdAndInput,
  method,
  type Module,
  query,
  queryById,
} from "../operations/index.ts";
import { createContact, updateContact } from "./commands.ts";
import { importContactRows } from "./import.ts";
import { getContact, listContacts } from "./reads.ts";
import { searchContacts } from "./search.ts";
import type { ImportContact } from "./input-types.ts";

const contactHandles = {
  contacts: {
    create: command(createContact),
    get: queryById(getContact),
    search: query(searchContacts),
    import: method(
      ({ rows }) =>
        (contacts: Iterable<ImportContact> | AsyncIterable<ImportContact>) =>
          rows(importContactRows, contacts),
    ),
    list: query(listContacts),
    update: commandByIdAndInput(updateContact),
  },
};

export const contactsModule: Module<object, typeof contactHandles> = {
  collections: [contacts, contactLabels, identities, consents, consentEvidence],
  tags: [{ name: "Contacts", description: "The people that an account exchanges messages with." }],
  routes: [...contactRoutes, ...contactSearchRoutes],
  handles: contactHandles,
};
