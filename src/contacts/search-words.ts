/**
 * The rules of the contact search: the words of a contact, the words of a query, and the ranking.
 * The functions are pure and work the same with every storage.
 */
import { createHash } from "node:crypto";
import type { SearchedWord } from "../ports/index.ts";
import { foldText, type Scope } from "../kernel/index.ts";
import type { ContactRow } from "./rows.ts";

/** The maximum number of words of a contact. Further words are ignored. */
const maxWords = 100;
/** The maximum number of words of a query. */
const maxQueryWords = 8;
/** The maximum number of characters of a word. The rest is ignored. */
const maxWordLength = 40;

/** The words of a text: its letters and digits, folded. */
function wordsOf(text: string): string[] {
  const words = foldText(text).split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "").map(cut);
}

const cut = (word: string): string =>
  word.length <= maxWordLength ? word : [...word].slice(0, maxWordLength).join("");

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

/**
 * A lookup of a very common word would read too many contacts. So one contact in 32, and one in
 * 4,096, stores its words again under a separate prefix. A search asks the smallest of these
 * samples first.
 */
export const samples = [2, 1] as const;
/** 0 means all contacts. */
export type Sample = (typeof samples)[number] | 0;

/**
 * The samples that include a contact. They depend on a hash, because ids drawn in the same
 * millisecond are not evenly distributed.
 */
function samplesOf(id: string): readonly Sample[] {
  const spread = hashOf(id).readUInt16BE();
  return spread % 4_096 === 0 ? [2, 1, 0] : spread % 32 === 0 ? [1, 0] : [0];
}

/** The prefix of stored words. It separates accounts, modes and samples. */
const prefixOf = ({ account_id, mode }: Scope, sample: Sample): string =>
  hashOf(`${account_id} ${mode}`).toString("hex", 0, 5) + String(sample);

const prefixLength = 11;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The search words of a contact as the storage indexes them. Null when it has none. */
export function searchWordsOf(contact: Omit<ContactRow, "words">): string | null {
  const words = [...weightedWords(contact).keys()];
  if (words.length === 0) return null;
  const marks = samplesOf(contact.id).map((sample) => prefixOf(contact, sample));
  return marks.flatMap((mark) => words.map((word) => mark + word)).join(" ");
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

export function contactQuery(text: string): ContactQuery {
  const words = [...new Set(wordsOf(text))].slice(0, maxQueryWords);
  const plain = text.normalize("NFKC").trim();
  const digits = /^\+?[\d\s().\-‐-―/]+$/u.test(plain) ? plain.replaceAll(/\D/g, "") : "";
  return { words, digits: digits.length >= 3 && digits.length <= 15 ? digits : null };
}

/** The words as a sample stores them, to match whole words or prefixes. */
export function searchedWords(
  scope: Scope,
  words: readonly string[],
  sample: Sample,
  prefix: boolean,
): readonly SearchedWord[] {
  const mark = prefixOf(scope, sample);
  return words.map((word) => ({ word: mark + word, prefix }));
}

/** How well a contact matches: first by the number of whole words, then by weight. */
interface Fit {
  readonly whole: number;
  readonly weight: number;
}

/** A contact that may match, with those of its phone numbers that may match. */
export interface Candidate<C extends Facts> {
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

/** Whether each word of the query is a prefix of one of the contact's words. */
export function hasPrefixes({ words }: Pick<ContactRow, "words">, query: ContactQuery): boolean {
  const own = (words ?? "").split(" ").map((word) => word.slice(prefixLength));
  return query.words.every((word) => own.some((each) => each.startsWith(word)));
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
  if (digits === null || !phone.startsWith(`+${digits}`)) return undefined;
  return { whole: phone === `+${digits}` ? words : 0, weight: weights.address * words };
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
