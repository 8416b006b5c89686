import { hasPrefixes, type Sample, samples, searchedWords } from "./search-words.ts";
import type { Scope } from "../kernel/index.ts";
import type { Seen, WordIndex } from "../ports/index.ts";
import type { Reads } from "../store/index.ts";

const [smallest, small] = samples;

/** The maximum number of rows that each part of the search returns for ranking. */
const maxRanked = 250;
/**
 * A sample with this many matches suffices. A page has at most 100 rows, and one more shows
 * that there are more.
 */
const enough = 101;
/** A prefix with this many matches in the smallest sample has about 8,000 matches in all. */
const commonCount = 2;
/**
 * The maximum number of rows that are filtered when common prefixes were left out of the
 * search.
 */
const maxFiltered = 1_000;

/** A row with the words that its storage indexes. */
interface Worded extends Scope {
  readonly words: string | null;
}
type Rows<R extends Worded> = readonly Seen<R>[];

interface Asked {
  readonly sample: Sample;
  readonly words: readonly string[];
  readonly prefix: boolean;
  readonly limit: number;
}

type Ask<R extends Worded> = (...asked: readonly Asked[]) => Promise<readonly Rows<R>[]>;

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
 * Finds the rows with all the words as whole words, and unless they are enough, the rows that match
 * by prefix. It reads a bounded number of rows: when thousands of rows match, it returns a sample
 * of them. The smallest sample estimates how common each prefix is.
 */
export async function findByWords<R extends Worded>(
  reads: Pick<Reads, "search" | "scope">,
  index: WordIndex<R>,
  words: readonly string[],
): Promise<Rows<R>> {
  if (words.length === 0) return [];
  const ask: Ask<R> = (...asked) =>
    reads.search(
      asked.map(({ sample, words: of, prefix, limit }) => ({
        index,
        words: searchedWords(reads.scope, of, sample, prefix),
        limit,
      })),
    );
  const each = await ask(...words.map((word) => prefixed(smallest, [word], commonCount)));
  const rare = words.filter((_, i) => (each[i]?.length ?? 0) < commonCount);
  if (rare.length === 0) return findCommon(ask, words);
  return findRare(ask, words, rare, { isSampled: each.every(({ length }) => length > 0) });
}

/** Searches the small samples for common words. */
async function findCommon<R extends Worded>(
  ask: Ask<R>,
  words: readonly string[],
): Promise<Rows<R>> {
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
 * Searches all rows for rare words, unless a sample has enough matches. A storage gathers every
 * row that matches a prefix. So common prefixes are left out of the search and checked in its
 * result, unless the result is too large.
 */
async function findRare<R extends Worded>(
  ask: Ask<R>,
  words: readonly string[],
  rare: readonly string[],
  { isSampled }: { readonly isSampled: boolean },
): Promise<Rows<R>> {
  const isAll = rare.length === words.length;
  const keepMatching = (found: Rows<R>): Rows<R> =>
    isAll ? found : found.filter((row) => hasPrefixes(row.words, words));
  if (isSampled) {
    const [found = []] = await ask(prefixed(small, rare, isAll ? maxRanked : maxFiltered));
    const matching = keepMatching(found).slice(0, maxRanked);
    if (matching.length >= enough) return [...(await ask(whole(0, words))), matching].flat();
  }
  const [all = []] = await ask(prefixed(0, rare, maxFiltered));
  // The result is complete, so it includes the rows with whole words.
  if (all.length < maxFiltered) return keepMatching(all);
  const others = await ask(whole(0, words), ...(isAll ? [] : [prefixed(0, words, maxRanked)]));
  return [...others, keepMatching(all)].flat();
}
