/**
 * The rules of the contact search: the words of a contact, the words of a query, and the ranking.
 * The functions are pure and work the same with every storage.
 */
import { queryWords, storedWords, wordsOf } from "../../operations/index.ts";
import type { ContactRow } from "../rows.ts";

/** The maximum number of words of a contact. Further words are ignored. */
const maxWords = 100;

type Facts = Pick<ContactRow, "name" | "phone" | "email" | "attributes">;

/** The weight of a match, by where the word was found. */
const weights = { name: 3, address: 2, attribute: 1 } as const;

/**
 * The words of a contact, each with its greatest weight. Empty when only a phone number is known.
 */
function weightedWords({ name, phone, email, attributes }: Facts): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (text: string | null, weight: number): void => {
    if (text === null) return;
    for (const word of wordsOf(text)) {
      if (found.size < maxWords && !found.has(word)) found.set(word, weight);
    }
  };
  add(name, weights.name);
  add(email, weights.address);
  for (const value of Object.values(attributes)) add(value, weights.attribute);
  const digits = phone?.slice(1);
  if (found.size > 0 && digits !== undefined) {
    found.set(digits, Math.max(weights.address, found.get(digits) ?? 0));
  }
  return found;
}

/** The search words of a contact as the storage indexes them. Null when it has none. */
export function searchWordsOf(contact: Omit<ContactRow, "words">): string | null {
  const words = [...weightedWords(contact).keys()];
  return storedWords(contact, words);
}

/** A parsed search query. */
export interface ContactQuery {
  readonly words: readonly string[];
  /**
   * The prefix of a phone number without the plus sign. Null unless the text has 3 to 15 digits and
   * could be a number.
   */
  readonly digits: string | null;
}

/**
 * Parses a query. A number that was copied from an address book can have invisible marks of
 * direction around it. Some people write `(+49)`.
 */
export function contactQuery(text: string): ContactQuery {
  const words = queryWords(text);
  const visible = text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .trim();
  const isNumber = /^\(?\+?[\d\s().\-‐-―/]+$/u.test(visible);
  const digits = isNumber ? visible.replaceAll(/\D/g, "") : "";
  return { words, digits: digits.length >= 3 && digits.length <= 15 ? digits : null };
}

/** How well a contact matches: first by the number of whole words, then by weight. */
interface Fit {
  readonly whole: number;
  readonly weight: number;
}

/** A contact that may match, with those of its phone numbers that may match. */
interface Candidate<C extends Facts> {
  readonly contact: C;
  readonly phones: readonly string[];
}

function bestFit(
  { contact, phones }: Candidate<Facts>,
  { words, digits }: ContactQuery,
): Fit | undefined {
  const fits = [
    wordFit(weightedWords(contact), words),
    ...phones.map((phone) => phoneFit(phone, words.length, digits)),
  ];
  return fits.filter((fit) => fit !== undefined).toSorted(byFit)[0];
}

function wordFit(own: ReadonlyMap<string, number>, words: readonly string[]): Fit | undefined {
  if (words.length === 0) return undefined;
  let whole = 0;
  let weight = 0;
  for (const word of words) {
    const exact = own.get(word);
    const best = exact ?? heaviest(own, word);
    if (best === 0) return undefined;
    if (exact !== undefined) whole++;
    weight += best;
  }
  return { whole, weight };
}

function heaviest(own: ReadonlyMap<string, number>, beginning: string): number {
  let best = 0;
  for (const [word, weight] of own) if (weight > best && word.startsWith(beginning)) best = weight;
  return best;
}

/** A number with spaces counts as many words as the query appears to have. */
function phoneFit(phone: string, words: number, digits: string | null): Fit | undefined {
  const number = phone.replace("+", "");
  if (digits === null || !number.startsWith(digits)) return undefined;
  return { whole: number === digits ? words : 0, weight: weights.address * words };
}

const byFit = (a: Fit, b: Fit): number => b.whole - a.whole || b.weight - a.weight;

/** Returns the matching contacts, best match first and newest first among equals. */
export function ranked<C extends Facts & Pick<ContactRow, "id">>(
  candidates: Iterable<Candidate<C>>,
  query: ContactQuery,
): C[] {
  return [...candidates]
    .flatMap((candidate) => {
      const fit = bestFit(candidate, query);
      return fit === undefined ? [] : [{ contact: candidate.contact, fit }];
    })
    .toSorted((a, b) => byFit(a.fit, b.fit) || (a.contact.id < b.contact.id ? 1 : -1))
    .map(({ contact }) => contact);
}
