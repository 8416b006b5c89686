import { searchContacts as search } from "./search-reads.ts";
import { type Contact, type SearchContacts, searchContactsSchema } from "./types.ts";
import { defaultPageSize, type Page } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { showContacts } from "./show.ts";

/** The best first; one page, since what fits less is found by asking for more words and not by walking on. */
export const searchContacts: Query<SearchContacts, Page<Contact>> = {
  kind: "query",
  name: "contacts.search",
  input: () => searchContactsSchema,
  async run(reads, { q, limit = defaultPageSize }, { services }) {
    // One more than is wanted tells whether there are more.
    const rows = await search(reads, q, limit + 1);
    return {
      data: await showContacts(reads, rows.slice(0, limit), services),
      has_more: rows.length > limit,
      next_cursor: null,
    };
  },
};
