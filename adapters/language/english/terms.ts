/** The topic of a text, as words that can be compared. */
import { foldText } from "../../../src/kernel/index.ts";
import { durations, phrases, stopWords, synonyms } from "./vocabulary.ts";

/** A word without its endings. */
export interface Term {
  readonly stem: string;
  /** The same for words of about the same meaning. */
  readonly meaning: string;
}

/** Characters of a text that are read. Longer texts show their topic by then. */
const maxRead = 10_000;

/** Scripts without spaces between words. Each two neighbouring characters count as a word. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * Returns the words of a text that carry its topic, in their order. If no word does, as in
 * `About us`, it returns all of them.
 */
export function termsOf(text: string): Term[] {
  const plain = plainText(text).replaceAll(durations, "$1");
  const meant = phrases.flatMap(({ pattern, means }) =>
    pattern.test(plain) ? means.split(" ") : [],
  );
  const words = [...wordsIn(plain), ...meant];
  const telling = words.filter((word) => !stopWords.has(word));
  return (telling.length > 0 ? telling : words).map(termOf);
}

/** French articles and the like: `l'adresse`, `qu'est`. */
const elisions = /\b(?:[cdjlmnst]|qu)'(?=\p{L}{2})/gu;

/** Returns a text in lower case, without accents, apostrophes and elided articles. */
export function plainText(text: string): string {
  return foldText(text.slice(0, maxRead), "accents").replaceAll(elisions, "").replaceAll("'", "");
}

/**
 * How similar two words are, from 0 to 1. Words are similar if they have the same stem, the same
 * meaning, the same beginning, or differ by one typing error.
 */
export function similarity(one: Term, other: Term): number {
  if (one.stem === other.stem) return 1;
  if (one.meaning === other.meaning) return 0.9;
  return isSpeltAlike(one.stem, other.stem) ? 0.75 : 0;
}

/**
 * Terms, indexed by what makes terms similar. Comparing each word of a long message with each word
 * of a large knowledge base would block the process for seconds.
 */
export class TermIndex<T extends Term> {
  readonly #byMeaning: ReadonlyMap<string, readonly T[]>;
  readonly #byStart: ReadonlyMap<string, readonly T[]>;
  readonly #byEnds: ReadonlyMap<string, readonly T[]>;

  constructor(terms: readonly T[]) {
    this.#byMeaning = Map.groupBy(terms, ({ meaning }) => meaning);
    const long = terms.filter(({ stem }) => hasSpelling(stem));
    this.#byStart = Map.groupBy(long, ({ stem }) => startOf(stem));
    this.#byEnds = Map.groupBy(long, ({ stem }) => endsOf(stem));
  }

  /** Returns the terms that are similar to a term, each with its similarity. */
  similarTo(term: Term): readonly (readonly [T, number])[] {
    const alike = this.#byMeaning.get(term.meaning) ?? [];
    const others = this.#speltAlmostLike(term.stem).filter(
      ({ meaning }) => meaning !== term.meaning,
    );
    return [...alike, ...others].flatMap((other) => {
      const similar = similarity(term, other);
      return similar > 0 ? [[other, similar] as const] : [];
    });
  }

  /**
   * Returns every term that is spelt like a stem, and few others. Words that are spelt alike have
   * the same first character. If their second one differs, that is the one typing error, which
   * leaves the last two characters the same.
   */
  #speltAlmostLike(stem: string): readonly T[] {
    if (!hasSpelling(stem)) return [];
    const start = startOf(stem);
    const sameEnds = this.#byEnds.get(endsOf(stem)) ?? [];
    return [
      ...(this.#byStart.get(start) ?? []),
      ...sameEnds.filter((other) => startOf(other.stem) !== start),
    ];
  }
}

const startOf = (stem: string): string => stem.slice(0, 2);
const endsOf = (stem: string): string => `${stem.slice(0, 1)}${stem.slice(-2)}`;

function wordsIn(plain: string): string[] {
  return [...plain.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].flatMap(([word]) =>
    unspaced.test(word) ? pairsIn(word) : [word],
  );
}

function pairsIn(word: string): string[] {
  const characters = [...word];
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function termOf(word: string): Term {
  const stem = stemOf(word);
  return { stem, meaning: meanings.get(stem) ?? stem };
}

/** What remains without an ending has to be a word: three characters, one of them a vowel. */
const wordLike = /^(?=.*[aeiouy]).{3}/;
const endings = "ations ation ments ment ated ings ing ied ed ly ic".split(" ");

/**
 * Removes the endings that English words change, and a last vowel, which other languages change.
 */
function stemOf(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const singular = /(?:[sxz]|ch|sh)es$/.test(word)
    ? word.slice(0, -2)
    : word.replace(/(?<![siu])s$/, "");
  const ending = endings.find(
    (each) => singular.endsWith(each) && wordLike.test(singular.slice(0, -each.length)),
  );
  const bare = ending === undefined ? singular : singular.slice(0, -ending.length);
  const undoubled = bare.replace(/([bcdfgklmnprt])\1$/, "$1");
  const stem = undoubled.replace(/(?:ie|[aeiouy])$/, "");
  return stem.length < 3 ? undoubled : stem;
}

const meanings: ReadonlyMap<string, string> = new Map(
  synonyms.flatMap(([first = "", ...others]) =>
    [first, ...others].map((word) => [stemOf(word), stemOf(first)] as const),
  ),
);

/** The minimum length of words that can be spelt alike. */
const minSpelt = 5;

/** Whether other words can be spelt like this one. Numbers that differ by a digit are not alike. */
function hasSpelling(stem: string): boolean {
  return stem.length >= minSpelt && !/\d/.test(stem);
}

function isSpeltAlike(one: string, other: string): boolean {
  if (one[0] !== other[0] || !hasSpelling(one) || !hasSpelling(other)) return false;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  const common = commonStart(short, long);
  if (common >= minSpelt && common >= short.length * 0.7) return true;
  return long.length - short.length <= 1 && isOneTypo(short, long, common);
}

function commonStart(short: string, long: string): number {
  let length = 0;
  while (length < short.length && short[length] === long[length]) length += 1;
  return length;
}

/**
 * Whether two words differ by one wrong, missing or extra character, or by two that are swapped.
 * The first difference is at `at`.
 */
function isOneTypo(short: string, long: string, at: number): boolean {
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const swapped = `${short[at + 1] ?? ""}${short[at] ?? ""}`;
  return (
    short.slice(at + 1) === long.slice(at + 1) || swapped + short.slice(at + 2) === long.slice(at)
  );
}
