import type { Contact } from "./types.ts";
import { type SearchContacts, searchContactsSchema } from "./input-types.ts";
import { defaultPageSize, type Page } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { showContacts } from "./reads.ts";
import type { Seen } from "../ports/index.ts";
import type { Reads } from "../store/index.ts";
import {
  contactById,
  type ContactRow,
  contactsByWords,
  identityByAddress,
  type IdentityRow,
} from "./rows.ts";
import {
  type Candidate,
  contactQuery,
  type ContactQuery,
  hasPrefixes,
  ranked,
  type Sample,
  samples,
  searchedWords,
} from "./search-words.ts";

/**
 * Searches contacts, best match first. The result is one page: users narrow a search with more
 * words.
 */
export const searchContacts: Query<SearchContacts, Page<Contact>> = {
  kind: "query",
  name: "contacts.search",
  input: () => searchContactsSchema,
  async run(reads, { q, limit = defaultPageSize }, { services }) {
    // One extra row shows whether there are more.
    const rows = await findBestMatches(reads, q, limit + 1);
    return {
      data: await showContacts(reads, rows.slice(0, limit), services),
      has_more: rows.length > limit,
      next_cursor: null,
    };
  },
};

const [smallest, small] = samples;

/** The maximum number of contacts that each part of the search returns for ranking. */
const maxRanked = 250;
/**
 * A sample with this many matches suffices. A page has at most 100 contacts, and one more shows
 * that there are more.
 */
const enough = 101;
/** A prefix with this many matches in the smallest sample has about 8,000 matches in all. */
const commonCount = 2;
/**
 * The maximum number of contacts that are filtered when common prefixes were left out of the
 * search.
 */
const maxFiltered = 1_000;

/**
 * Returns the contacts that match a text best. It reads a bounded number of rows. When thousands of
 * contacts match a word, it ranks a sample of them.
 */
async function findBestMatches(
  reads: Reads,
  text: string,
  limit: number,
): Promise<readonly Seen<ContactRow>[]> {
  const query = contactQuery(text);
  const [byWords, byPhone] = await Promise.all([
    findByWords(reads, query),
    findByPhone(reads, query),
  ]);
  const candidates = new Map<string, Candidate<Seen<ContactRow>> & { readonly phones: string[] }>();
  for (const contact of byWords) {
    candidates.set(contact.id, { contact, phones: [] });
  }
  const keys = [...new Set(byPhone.map((each) => each.contact_id))].filter(
    (id) => !candidates.has(id),
  );
  for (const contact of await reads.getAll(
    contactById,
    keys.map((id) => [id] as const),
  )) {
    candidates.set(contact.id, { contact, phones: [] });
  }
  for (const { contact_id, address } of byPhone) candidates.get(contact_id)?.phones.push(address);
  return ranked(candidates.values(), query).slice(0, limit);
}

type Rows = readonly Seen<ContactRow>[];

interface Asked {
  readonly sample: Sample;
  readonly words: readonly string[];
  readonly prefix: boolean;
  readonly limit: number;
}

type Ask = (...asked: readonly Asked[]) => Promise<readonly Rows[]>;

const whole = (sample: Sample, words: readonly string[]): Asked => ({
  sample,
  words,
  prefix: false,
  limit: maxRanked,
});
const prefixed = (sample: Sample, words: readonly string[], limit: number): Asked => ({
  sample,
  words,
  prefix: true,
  limit,
});

/**
 * Finds the contacts with all the words as whole words, which rank first. Unless they are enough,
 * it also finds contacts that match by prefix. The smallest sample estimates how common each prefix
 * is.
 */
async function findByWords(
  reads: Pick<Reads, "search" | "scope">,
  query: ContactQuery,
): Promise<Rows> {
  const { words } = query;
  if (words.length === 0) return [];
  const ask: Ask = (...asked) =>
    reads.search(
      asked.map(({ sample, words: of, prefix, limit }) => ({
        index: contactsByWords,
        words: searchedWords(reads.scope, of, sample, prefix),
        limit,
      })),
    );
  const each = await ask(...words.map((word) => prefixed(smallest, [word], commonCount)));
  const rare = words.filter((_, i) => (each[i]?.length ?? 0) < commonCount);
  if (rare.length === 0) return findCommon(ask, words);
  return findRare(ask, query, rare, { isSampled: each.every(({ length }) => length > 0) });
}

/** Searches the small samples for common words. */
async function findCommon(ask: Ask, words: readonly string[]): Promise<Rows> {
  const [first = []] = await ask(whole(smallest, words));
  if (first.length >= enough) return first;
  const [few = [], same = []] = await ask(
    prefixed(smallest, words, maxRanked),
    whole(small, words),
  );
  if (same.length >= enough) return same;
  const [more = []] = few.length >= enough ? [few] : await ask(prefixed(small, words, maxRanked));
  const others = more.length >= enough ? [more] : await ask(prefixed(0, words, maxFiltered));
  return [...(await ask(whole(0, words))), ...others].flat();
}

/**
 * Searches all contacts for rare words, unless a sample has enough matches. A storage gathers every
 * contact that matches a prefix. So common prefixes are left out of the search and checked in its
 * result, unless the result is too large.
 */
async function findRare(
  ask: Ask,
  query: ContactQuery,
  rare: readonly string[],
  { isSampled }: { readonly isSampled: boolean },
): Promise<Rows> {
  const { words } = query;
  const isAll = rare.length === words.length;
  const keepMatching = (found: Rows): Rows =>
    isAll ? found : found.filter((contact) => hasPrefixes(contact, query));
  if (isSampled) {
    const [found = []] = await ask(prefixed(small, rare, isAll ? maxRanked : maxFiltered));
    const matching = keepMatching(found).slice(0, maxRanked);
    if (matching.length >= enough) return [...(await ask(whole(0, words))), matching].flat();
  }
  const [all = []] = await ask(prefixed(0, rare, maxFiltered));
  // The result is complete, so it includes the contacts with whole words.
  if (all.length < maxFiltered) return keepMatching(all);
  const others = await ask(whole(0, words), ...(isAll ? [] : [prefixed(0, words, maxRanked)]));
  return [...others, keepMatching(all)].flat();
}

/** Finds the phone numbers that begin with the digits. */
async function findByPhone(
  reads: Pick<Reads, "range" | "getAll">,
  { digits }: ContactQuery,
): Promise<readonly Seen<IdentityRow>[]> {
  if (digits === null) return [];
  const number = `+${digits}`;
  const prefix = ["text"] as const;
  const [whole, longer] = await Promise.all([
    reads.getAll(identityByAddress, [[...prefix, number]]),
    // A colon follows the digits in ASCII.
    reads.range({
      index: identityByAddress,
      prefix,
      order: "ascending",
      after: [number],
      until: [`${number}:`],
      limit: maxRanked,
    }),
  ]);
  return [...whole, ...longer];
}
