import type { Seen } from "../../ports/collection.ts";
import type { Scope } from "../../scope.ts";
import type { Reads } from "../../transactions/reads.ts";
import { contactById, type ContactRow, contactsByWords, identityByAddress, type IdentityRow } from "./rows.ts";
import {
  type Candidate,
  type ContactQuery,
  contactQuery,
  hasBeginnings,
  ranked,
  type Sample,
  samples,
  searchedWords,
} from "./search.ts";

/** The contacts that are ranked, of more that a part of the search finds. */
const most = 250;
/** So many of a sample are enough, and the rest is not looked for: no answer has more than 100, and one tells whether there are more. */
const enough = 101;
/** A beginning that so many contacts of the smallest sample have, some 8,000 of all have. */
const telling = 8;
/** Contacts that are gone through where such beginnings were left out of the search. */
const mostSifted = 1_000;

/**
 * The contacts that fit a text best. However many there are and fit, it reads a bounded number of rows: of words that more than some
 * thousand contacts have, those of a sample are ranked.
 */
export async function searchContacts(
  reads: Pick<Reads, "search" | "range" | "getAll">,
  scope: Scope,
  text: string,
  limit: number,
): Promise<readonly Seen<ContactRow>[]> {
  const query = contactQuery(text);
  const [byWords, byPhone] = await Promise.all([findByWords(reads, scope, query), findByPhone(reads, scope, query)]);
  const candidates = new Map<string, Candidate<Seen<ContactRow>> & { readonly phones: string[] }>();
  const isOwn = ({ account_id, mode }: ContactRow): boolean => account_id === scope.account_id && mode === scope.mode;
  for (const contact of byWords) if (isOwn(contact)) candidates.set(contact.id, { contact, phones: [] });
  const keys = [...new Set(byPhone.map((each) => each.contact_id))].filter((id) => !candidates.has(id));
  for (const contact of await reads.getAll(
    contactById,
    keys.map((id) => [scope.account_id, scope.mode, id] as const),
  )) {
    candidates.set(contact.id, { contact, phones: [] });
  }
  for (const { contact_id, address } of byPhone) candidates.get(contact_id)?.phones.push(address);
  return ranked(candidates.values(), query).slice(0, limit);
}

type Rows = readonly Seen<ContactRow>[];

interface Asked {
  readonly words: readonly string[];
  readonly prefix: boolean;
  /** At 0 nothing is looked for. */
  readonly limit: number;
}

type Ask = (sample: Sample, asked: readonly Asked[]) => Promise<readonly Rows[]>;

/**
 * The contacts that have all of the words whole; then, unless they are enough, those that have words that begin with them. From the
 * smallest sample up to all contacts: what is common is found in a small one, and what is rare costs little in the largest.
 *
 * A storage gathers all contacts that a beginning stands for. So the common ones are left out where others are rare, and looked for in
 * what these find; unless they find too much.
 */
async function findByWords(reads: Pick<Reads, "search">, scope: Scope, query: ContactQuery): Promise<Rows> {
  const { words } = query;
  if (words.length === 0) return [];
  const ask: Ask = (sample, asked) =>
    reads.search(
      asked.map(({ words: of, prefix, limit }) => ({
        index: contactsByWords,
        words: searchedWords(scope, of, sample, prefix),
        limit,
      })),
    );
  const [smallest, small] = samples;
  const [whole = [], longer = [], ...each] = await ask(smallest, [
    { words, prefix: false, limit: most },
    { words, prefix: true, limit: most },
    ...(words.length > 1 ? words.map((word) => ({ words: [word], prefix: true, limit: telling })) : []),
  ]);
  // Whoever has the words whole comes before all others.
  if (whole.length >= enough) return whole;
  const left = words.filter((_, i) => (each[i]?.length ?? 0) < telling);
  const rare = left.length > 0 && left.length < words.length ? left : words;
  const sift = (found: Rows): Rows =>
    rare === words ? found : found.filter((contact) => hasBeginnings(contact, query));
  let begun = longer.length >= enough ? longer : undefined;

  const [more = [], found = []] = await ask(small, [
    { words, prefix: false, limit: most },
    { words: rare, prefix: true, limit: begun === undefined ? mostSifted : 0 },
  ]);
  if (more.length >= enough) return more;
  const sifted = sift(found);
  if (sifted.length >= enough) begun ??= sifted.slice(0, most);
  if (begun === undefined) {
    const [all = []] = await ask(0, [{ words: rare, prefix: true, limit: mostSifted }]);
    // All there are, so those that have the words whole are among them.
    if (all.length < mostSifted) return sift(all);
    begun = rare === words ? all : (await ask(0, [{ words, prefix: true, limit: most }])).flat();
  }
  const [last = []] = await ask(0, [{ words, prefix: false, limit: most }]);
  return [...last, ...begun];
}

/** Numbers that begin with the digits. */
async function findByPhone(
  reads: Pick<Reads, "range" | "getAll">,
  { account_id, mode }: Scope,
  { digits }: ContactQuery,
): Promise<readonly Seen<IdentityRow>[]> {
  if (digits === null) return [];
  const number = `+${digits}`;
  const prefix = [account_id, mode, "text"] as const;
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
