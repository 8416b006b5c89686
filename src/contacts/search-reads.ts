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
  type ContactQuery,
  contactQuery,
  hasBeginnings,
  ranked,
  type Sample,
  samples,
  searchedWords,
} from "./search-words.ts";

const [smallest, small] = samples;

/** The contacts that are ranked, of more that a part of the search finds. */
const most = 250;
/** So many of a sample are enough, and the rest is not looked for: no answer has more than 100, and one tells whether there are more. */
const enough = 101;
/** A beginning that so many contacts of the smallest sample have, some 8,000 of all have. */
const telling = 2;
/** Contacts that are gone through where such beginnings were left out of the search. */
const mostSifted = 1_000;

/**
 * The contacts that fit a text best. However many there are and fit, it reads a bounded number of rows: of words that more than some
 * thousand contacts have, those of a sample are ranked.
 */
export async function searchContacts(
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
  limit: most,
});
const begun = (sample: Sample, words: readonly string[], limit: number): Asked => ({
  sample,
  words,
  prefix: true,
  limit,
});

/**
 * The contacts that have all of the words whole, who come before all others; and unless they are enough, those that have words that begin
 * with them. How common each beginning is, the smallest sample tells.
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
  const each = await ask(...words.map((word) => begun(smallest, [word], telling)));
  const rare = words.filter((_, i) => (each[i]?.length ?? 0) < telling);
  if (rare.length === 0) return findCommon(ask, words);
  return findRare(ask, query, rare, { isSampled: each.every(({ length }) => length > 0) });
}

/** What is common is found in a small sample. */
async function findCommon(ask: Ask, words: readonly string[]): Promise<Rows> {
  const [first = []] = await ask(whole(smallest, words));
  if (first.length >= enough) return first;
  const [few = [], same = []] = await ask(begun(smallest, words, most), whole(small, words));
  if (same.length >= enough) return same;
  const [more = []] = few.length >= enough ? [few] : await ask(begun(small, words, most));
  const others = more.length >= enough ? [more] : await ask(begun(0, words, mostSifted));
  return [...(await ask(whole(0, words))), ...others].flat();
}

/**
 * What is rare is looked for among all contacts, unless a sample has enough of it. A storage gathers all contacts that a beginning stands
 * for: so the common ones are left out, and looked for in what the rare ones find; unless they find too much.
 */
async function findRare(
  ask: Ask,
  query: ContactQuery,
  rare: readonly string[],
  { isSampled }: { readonly isSampled: boolean },
): Promise<Rows> {
  const { words } = query;
  const isAll = rare.length === words.length;
  const sift = (found: Rows): Rows =>
    isAll ? found : found.filter((contact) => hasBeginnings(contact, query));
  if (isSampled) {
    const [found = []] = await ask(begun(small, rare, isAll ? most : mostSifted));
    const sifted = sift(found).slice(0, most);
    if (sifted.length >= enough) return [...(await ask(whole(0, words))), sifted].flat();
  }
  const [all = []] = await ask(begun(0, rare, mostSifted));
  // All there are, so those that have the words whole are among them.
  if (all.length < mostSifted) return sift(all);
  const others = await ask(whole(0, words), ...(isAll ? [] : [begun(0, words, most)]));
  return [...others, sift(all)].flat();
}

/** Numbers that begin with the digits. */
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
      limit: most,
    }),
  ]);
  return [...whole, ...longer];
}
