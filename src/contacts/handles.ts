import { createContact, updateContact } from "./commands.ts";
import { importContactRows } from "./import.ts";
import { getContact, listContacts } from "./reads.ts";
import { searchContacts } from "./search.ts";
import type { ImportContact } from "./input-types.ts";
import { command, commandByIdAndInput, method, query, queryById } from "../operations/index.ts";

export const contactHandles = {
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
