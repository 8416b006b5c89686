/** What a text is about, as words that can be compared. */
import { phrases, spans, stopWords, synonyms } from "./vocabulary.ts";

/** A word without its endings, and what it means: words of one meaning share it. */
export interface Term {
  readonly stem: string;
  readonly meaning: string;
}

/** What a text is about shows by then; the rest would only take time. In characters. */
const longest = 10_000;

/** Scripts that don't put spaces between words: any two characters in a row stand for one. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** The words of a text that say what it is about, in their order. Where none does, such as in `About us`, all of them. */
export function termsOf(text: string): Term[] {
  const plain = plainText(text).replaceAll(spans, "$1");
  const meant = phrases.flatMap(({ said, means }) => (said.test(plain) ? means.split(" ") : []));
  const words = [...wordsIn(plain), ...meant];
  const telling = words.filter((word) => !stopWords.has(word));
  return (telling.length > 0 ? telling : words).map(termOf);
}

/** Small letters, without accents and apostrophes. */
export function plainText(text: string): string {
  const folded = text
    .slice(0, longest)
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f]/g, "");
  return folded
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[‘’`´]/g, "'")
    .replaceAll(/\b(?:[cdjlmnst]|qu)'(?=\p{L}{2})/gu, "")
    .replaceAll("'", "");
}

/**
 * How much one word is like another, from 0 to 1: the same but for its endings, another of the same meaning, one that begins alike, or one
 * with a slip of the finger.
 */
export function likeness(one: Term, other: Term): number {
  if (one.stem === other.stem) return 1;
  if (one.meaning === other.meaning) return 0.9;
  return isAlike(one.stem, other.stem) ? 0.75 : 0;
}

function wordsIn(plain: string): string[] {
  return [...plain.matchAll(/[\p{L}\p{M}\p{N}]+/gu)].flatMap(([word]) =>
    unspaced.test(word) ? pairsOf(word) : [word],
  );
}

function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 3) return [word];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function termOf(word: string): Term {
  const stem = stemOf(word);
  return { stem, meaning: meanings.get(stem) ?? stem };
}

/** What an ending leaves must still be a word: three characters with a vowel among them. */
const enough = /^(?=.*[aeiouy]).{3}/;
const endings = [
  "ations",
  "ation",
  "ments",
  "ment",
  "ated",
  "ings",
  "ing",
  "ied",
  "ed",
  "ly",
  "ic",
];

/** Takes off the endings that English words change, and the last vowel, which other languages change too. */
function stemOf(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const one = /(?:[sxz]|ch|sh)es$/.test(word)
    ? word.slice(0, -2)
    : word.replace(/(?<![siu])s$/, "");
  const ending = endings.find(
    (each) => one.endsWith(each) && enough.test(one.slice(0, -each.length)),
  );
  const bare = ending === undefined ? one : one.slice(0, -ending.length);
  const single = bare.replace(/([bcdfgklmnprt])\1$/, "$1");
  const stem = single.replace(/(?:ie|[aeiouy])$/, "");
  return stem.length < 3 ? single : stem;
}

const meanings: ReadonlyMap<string, string> = new Map(
  synonyms.flatMap(([first = "", ...others]) =>
    [first, ...others].map((word) => [stemOf(word), stemOf(first)] as const),
  ),
);

function isAlike(one: string, other: string): boolean {
  if (one[0] !== other[0]) return false;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length < 5 || /\d/.test(short + long)) return false;
  const common = commonStart(short, long);
  if (common >= 5 && common >= short.length * 0.7) return true;
  return long.length - short.length <= 1 && isOneSlip(short, long, common);
}

function commonStart(short: string, long: string): number {
  let length = 0;
  while (length < short.length && short[length] === long[length]) length += 1;
  return length;
}

/** One character wrong, left out, or two of them the wrong way round; the first difference is at `at`. */
function isOneSlip(short: string, long: string, at: number): boolean {
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const turned = `${short[at + 1] ?? ""}${short[at] ?? ""}`;
  return (
    short.slice(at + 1) === long.slice(at + 1) || turned + short.slice(at + 2) === long.slice(at)
  );
}
