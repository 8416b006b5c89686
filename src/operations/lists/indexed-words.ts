/**
 * The words that word indexes store: the words of a text, the samples of common words, and the
 * words of a query. The functions are pure and work the same with every storage.
 */
import { createHash } from "node:crypto";
import { foldText, type Scope } from "../../kernel/index.ts";
import type { SearchedWord } from "../../ports/index.ts";

/** The maximum number of words of a query. */
const maxQueryWords = 8;
/** The maximum number of characters of a word. The rest is ignored. */
const maxWordLength = 40;

/** The words of a text: its letters and digits, folded. */
export function wordsOf(text: string): string[] {
  const words = foldText(text).split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== "").map(cut);
}

const cut = (word: string): string =>
  word.length <= maxWordLength ? word : [...word].slice(0, maxWordLength).join("");

/** The words of a query. Further words are ignored. */
export function queryWords(text: string): string[] {
  return [...new Set(wordsOf(text))].slice(0, maxQueryWords);
}

/**
 * A lookup of a very common word would read too many rows. So one row in 32, and one in 4,096,
 * stores its words again under a separate prefix. A search asks the smallest of these samples
 * first.
 */
export const samples = { smallest: 2, small: 1, all: 0 } as const;
export type Sample = (typeof samples)[keyof typeof samples];

/**
 * The samples that include a row. They depend on a hash, because ids drawn in the same millisecond
 * are not evenly distributed.
 */
function samplesOf(id: string): readonly Sample[] {
  const spread = hashOf(id).readUInt16BE();
  const { smallest, small, all } = samples;
  return spread % 4_096 === 0 ? [smallest, small, all] : spread % 32 === 0 ? [small, all] : [all];
}

/** The prefix of stored words. It separates accounts, modes and samples. */
const prefixOf = ({ account_id, mode }: Scope, sample: Sample): string =>
  hashOf(`${account_id} ${mode}`).toString("hex", 0, 5) + String(sample);

const prefixLength = 11;

const hashOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The words of a row as its storage indexes them. Null when it has none. */
export function storedWords(
  row: Scope & { readonly id: string },
  words: readonly string[],
): string | null {
  if (words.length === 0) return null;
  const marks = samplesOf(row.id).map((sample) => prefixOf(row, sample));
  return marks.flatMap((mark) => words.map((word) => mark + word)).join(" ");
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

/** Whether each word of a query is a prefix of one of the stored words. */
export function hasPrefixes(stored: string | null, words: readonly string[]): boolean {
  const own = (stored ?? "").split(" ").map((word) => word.slice(prefixLength));
  return words.every((word) => own.some((each) => each.startsWith(word)));
}
