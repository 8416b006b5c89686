/**
 * How contacts are found by words: which words a contact has, which of them a query asks for, and what comes first. Pure, and the same
 * over every storage.
 */
import { createHash } from "node:crypto";
import type { SearchedWord } from "../ports/index.ts";
import { foldText, type Scope } from "../kernel/index.ts";
import type { ContactRow } from "./rows.ts";

/** Of a contact; the first of more. */
const mostWords = 100;
/** Of a query. */
const mostAsked = 8;
/** Characters of a word; what follows doesn't count. */
const longestWord = 40;

/** The words of a text: its letters and digits, folded. */
export function wordsOf(text: string): string[] {
  const words = foldText(text).split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "").map(cut);
}

const cut = (word: string): string =>
  word.length <= longestWord ? word : [...word].slice(0, longestWord).join("");

type Facts = Pick<ContactRow, "name" | "phone" | "email" | "attributes">;

/** How much it counts where a word was found. */
const weights = { name: 3, address: 2, attribute: 1 } as const;

/** Each word of a contact with the most that it counts. Where nothing but a phone number is known there are none. */
function weighed({ name, phone, email, attributes }: Facts): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const add = (text: string | null, weight: number): void => {
    if (text === null) return;
    for (const word of wordsOf(text)) {
      if (found.size < mostWords && !found.has(word)) found.set(word, weight);
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
 * A word that very many contacts have can't be looked up among all of them: so one contact in 32, and one in 4,096, has its words once
 * more, under marks of their own. A search asks the smallest of these samples first.
 */
export const samples = [2, 1] as const;
/** 0: all contacts. */
export type Sample = (typeof samples)[number] | 0;

/** The samples that a contact is in. By a hash: ids that are drawn in one millisecond are not spread evenly. */
function samplesOf(id: string): readonly Sample[] {
  const spread = hashOf(id).readUInt16BE();
  return spread % 4_096 === 0 ? [2, 1, 0] : spread % 32 === 0 ? [1, 0] : [0];
}

/** Words are an account's and mode's own: they begin with a mark of it. */
const markOf = ({ account_id, mode }: Scope, sample: Sample): string =>
  hashOf(`${account_id} ${mode}`).toString("hex", 0, 5) + String(sample);

const markLength = 11;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What a contact is found by, for the storage; null of one that has no words. */
export function searchWordsOf(contact: Omit<ContactRow, "words">): string | null {
  const words = [...weighed(contact).keys()];
  if (words.length === 0) return null;
  const marks = samplesOf(contact.id).map((sample) => markOf(contact, sample));
  return marks.flatMap((mark) => words.map((word) => mark + word)).join(" ");
}

/** What somebody looks for. */
export interface ContactQuery {
  readonly words: readonly string[];
  /** The beginning of a phone number, without its plus, where it can be one: 3 to 15 digits. */
  readonly digits: string | null;
}

export function contactQuery(text: string): ContactQuery {
  const words = [...new Set(wordsOf(text))].slice(0, mostAsked);
  const plain = text.normalize("NFKC").trim();
  const digits = /^\+?[\d\s().\-‐-―/]+$/u.test(plain) ? plain.replaceAll(/\D/g, "") : "";
  return { words, digits: digits.length >= 3 && digits.length <= 15 ? digits : null };
}

/** Words as a sample has them, whole or as beginnings. */
export function searchedWords(
  scope: Scope,
  words: readonly string[],
  sample: Sample,
  prefix: boolean,
): readonly SearchedWord[] {
  const mark = markOf(scope, sample);
  return words.map((word) => ({ word: mark + word, prefix }));
}

/** How well a contact fits: first by the words that it has whole, then by where it has them. */
interface Fit {
  readonly whole: number;
  readonly weight: number;
}

/** What may fit: a contact, and those of its phone numbers that may. */
export interface Candidate<C extends Facts> {
  readonly contact: C;
  readonly phones: readonly string[];
}

function bestFit(
  { contact, phones }: Candidate<Facts>,
  { words, digits }: ContactQuery,
): Fit | undefined {
  const fits = [
    wordFit(weighed(contact), words),
    ...phones.map((phone) => phoneFit(phone, words.length, digits)),
  ];
  return fits.filter((fit) => fit !== undefined).toSorted(byFit)[0];
}

/** Whether it has words that begin with each of the query's. */
export function hasBeginnings({ words }: Pick<ContactRow, "words">, query: ContactQuery): boolean {
  const own = (words ?? "").split(" ").map((word) => word.slice(markLength));
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

/** A number that is written apart counts like the words that it looks like. */
function phoneFit(phone: string, words: number, digits: string | null): Fit | undefined {
  if (digits === null || !phone.startsWith(`+${digits}`)) return undefined;
  return { whole: phone === `+${digits}` ? words : 0, weight: weights.address * words };
}

const byFit = (a: Fit, b: Fit): number => b.whole - a.whole || b.weight - a.weight;

/** The contacts that fit, the best first; of those that fit alike, the newest. */
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
