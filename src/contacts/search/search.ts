import { defaultPageSize, type Page } from "../../kernel/index.ts";
import { findByWords, type Query } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Reads } from "../../store/index.ts";
import { passesOptOut, rowFilter } from "../filter.ts";
import { searchContactsSchema, type SearchContacts } from "../input-types.ts";
import {
  contactById,
  contactsByWords,
  identityByAddress,
  type ContactRow,
  type IdentityRow,
} from "../rows.ts";
import { showContacts } from "../show.ts";
import type { Contact } from "../types.ts";
import { contactQuery, ranked, type ContactQuery } from "./search-rules.ts";

/** How many matches a search with the filter `opted_out` checks in one step. */
const maxFiltered = 250;

/**
 * Searches contacts, best match first. The result is one page: users narrow a search with more
 * words or filters.
 */
export const searchContacts: Query<SearchContacts, Page<Contact>> = {
  kind: "query",
  name: "contacts.search",
  input: () => searchContactsSchema,
  async run(reads, { q, limit = defaultPageSize, ...filters }, { services }) {
    const wanted = (await findMatches(reads, q)).filter(rowFilter(filters));
    // One extra row shows whether there are more.
    const step = filters.opted_out === undefined ? limit + 1 : maxFiltered;
    const found: Contact[] = [];
    for (let at = 0; at < wanted.length && found.length <= limit; at += step) {
      const shown = await showContacts(reads, wanted.slice(at, at + step), services);
      found.push(...shown.filter((contact) => passesOptOut(contact, filters)));
    }
    return { data: found.slice(0, limit), has_more: found.length > limit, next_cursor: null };
  },
};

/** The maximum number of phone numbers that the search filters and ranks. */
const maxNumbers = 1_000;

/**
 * Returns the contacts that match a text, best match first. It reads a bounded number of rows. When
 * thousands of contacts match a word, it ranks a sample of them.
 */
export async function findMatches(
  reads: Reads,
  text: string,
): Promise<readonly Seen<ContactRow>[]> {
  const query = contactQuery(text);
  const [byWords, byPhone] = await Promise.all([
    findByWords(reads, contactsByWords, query.words),
    findByPhone(reads, query),
  ]);
  const found = new Set<string>(byWords.map(({ id }) => id));
  const phones = Map.groupBy(byPhone, ({ contact_id }) => contact_id);
  const others = await reads.getAll(
    contactById,
    [...phones.keys()].filter((id) => !found.has(id)).map((id) => [id] as const),
  );
  const candidates = [...byWords, ...others].map((contact) => ({
    contact,
    phones: (phones.get(contact.id) ?? []).map(({ address }) => address),
  }));
  return ranked(candidates, query);
}

/** Finds the phone numbers and the short codes that begin with the digits. */
async function findByPhone(
  reads: Pick<Reads, "range" | "getAll">,
  { digits }: ContactQuery,
): Promise<readonly Seen<IdentityRow>[]> {
  if (digits === null) return [];
  const prefix = ["text"] as const;
  const beginnings = [`+${digits}`, digits];
  const longer = (beginning: string) =>
    reads.range({
      index: identityByAddress,
      prefix,
      order: "ascending",
      after: [beginning],
      // A colon follows the digits in ASCII.
      until: [`${beginning}:`],
      limit: maxNumbers,
    });
  const whole = beginnings.map((address) => [...prefix, address] as const);
  const found = await Promise.all([
    reads.getAll(identityByAddress, whole),
    ...beginnings.map(longer),
  ]);
  return found.flat();
}
