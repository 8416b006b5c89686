import type { Scope } from "../../kernel/index.ts";
import type { Seen, WordIndex } from "../../ports/index.ts";
import type { Reads } from "../../store/index.ts";
import { hasPrefixes, samples, searchedWords, type Sample } from "./indexed-words.ts";

const { smallest, small, all } = samples;

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

/** A search of one sample, for whole words or for prefixes. */
interface SampleSearch {
  readonly sample: Sample;
  readonly words: readonly string[];
  readonly prefix: boolean;
  readonly limit: number;
}

/** Returns the rows of each search, in one round trip. */
type Find<R extends Worded> = (...searches: readonly SampleSearch[]) => Promise<readonly Rows<R>[]>;

const whole = (sample: Sample, words: readonly string[]): SampleSearch => ({
  sample,
  words,
  prefix: false,
  limit: maxRanked,
});
const prefixed = (sample: Sample, words: readonly string[], limit: number): SampleSearch => ({
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
  const find: Find<R> = (...searches) =>
    reads.search(
      searches.map(({ sample, words: wanted, prefix, limit }) => ({
        index,
        words: searchedWords(reads.scope, wanted, sample, prefix),
        limit,
      })),
    );
  const ofEach = await find(...words.map((word) => prefixed(smallest, [word], commonCount)));
  const rare = words.filter((_, i) => (ofEach[i]?.length ?? 0) < commonCount);
  if (rare.length === 0) return findCommon(find, words);
  return findRare(find, words, rare, { isSampled: ofEach.every(({ length }) => length > 0) });
}

/** Searches the small samples for common words. */
async function findCommon<R extends Worded>(
  find: Find<R>,
  words: readonly string[],
): Promise<Rows<R>> {
  const [wholeInSmallest = []] = await find(whole(smallest, words));
  if (wholeInSmallest.length >= enough) return wholeInSmallest;
  const [inSmallest = [], wholeInSmall = []] = await find(
    prefixed(smallest, words, maxRanked),
    whole(small, words),
  );
  if (wholeInSmall.length >= enough) return wholeInSmall;
  // The smallest sample that has enough matches by prefix suffices.
  let byPrefix = inSmallest;
  if (byPrefix.length < enough) [byPrefix = []] = await find(prefixed(small, words, maxRanked));
  if (byPrefix.length < enough) [byPrefix = []] = await find(prefixed(all, words, maxFiltered));
  return [...(await find(whole(all, words))), byPrefix].flat();
}

/**
 * Searches all rows for rare words, unless a sample has enough matches. A storage gathers every
 * row that matches a prefix. So common prefixes are left out of the search and checked in its
 * result, unless the result is too large.
 */
async function findRare<R extends Worded>(
  find: Find<R>,
  words: readonly string[],
  rare: readonly string[],
  { isSampled }: { readonly isSampled: boolean },
): Promise<Rows<R>> {
  const areRare = rare.length === words.length;
  const keepMatching = (found: Rows<R>): Rows<R> =>
    areRare ? found : found.filter((row) => hasPrefixes(row.words, words));
  if (isSampled) {
    const [inSmall = []] = await find(prefixed(small, rare, areRare ? maxRanked : maxFiltered));
    const matching = keepMatching(inSmall).slice(0, maxRanked);
    if (matching.length >= enough) return [...(await find(whole(all, words))), matching].flat();
  }
  const [byPrefix = []] = await find(prefixed(all, rare, maxFiltered));
  // The result is complete, so it includes the rows with whole words.
  if (byPrefix.length < maxFiltered) return keepMatching(byPrefix);
  const others = await find(
    whole(all, words),
    ...(areRare ? [] : [prefixed(all, words, maxRanked)]),
  );
  return [...others, keepMatching(byPrefix)].flat();
}
