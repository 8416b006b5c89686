/**
 * Ranks passages by the words of a question, in the manner of Okapi BM25 (Robertson and Walker).
 * The result is scaled to the share of the question that a passage covers, so that one threshold
 * fits all questions.
 */
import { LRUCache } from "lru-cache";
import type { Passage, RankedPassage } from "../../../src/ports/index.ts";
import { TermIndex, termsOf, type Term } from "./terms.ts";

/** A mention in the title counts as this many mentions in the text. */
const titleWeight = 4;
/** BM25's k1. A low value: in a short text, a second mention of a word adds little. */
const saturation = 0.25;
/** BM25's b: how much a long text counts for less. */
const lengthPenalty = 0.4;
/** The weight of a word that no passage has, relative to a word that one passage has. */
const unknownWeight = 0.7;
/** Sentences of one question that are compared by themselves. */
const maxSentences = 8;

/**
 * Each word of the question has a weight: the fewer passages have the word, the higher. Each weight
 * is multiplied by how much the passage is about the word (`strength`). The relevance of the
 * passage is the sum of these products, divided by the sum of all weights. If the question has
 * several sentences, the one that a passage covers best counts.
 */
export function rankPassages(
  passages: readonly Passage[],
  question: string,
  limit: number,
): readonly RankedPassage[] {
  const parts = partsOf(question);
  if (parts.length === 0) return [];
  const index = indexOf(passages);
  // The whole text has the words of its sentences too.
  const weighed = new Map<string, WeighedWord>();
  for (const term of parts.flat()) {
    if (!weighed.has(term.stem)) weighed.set(term.stem, weigh(term, index));
  }
  const found = parts.map((part) =>
    relevances(
      part.flatMap(({ stem }) => weighed.get(stem) ?? []),
      index.count,
    ),
  );
  const ranked = passages.map(({ title, text }, i) => {
    const best = Math.max(...found.map((relevance) => relevance[i] ?? 0));
    return { title, text, relevance: Math.round(best * 1_000) / 1_000 };
  });
  return ranked
    .filter(({ relevance }) => relevance > 0)
    .toSorted((one, other) => other.relevance - one.relevance)
    .slice(0, limit);
}

interface IndexedTerm extends Term {
  /** The passages that have the term, each once. */
  readonly mentions: Mention[];
}

interface Mention {
  /** The place of the passage in the list. */
  readonly at: number;
  /** How much the passage is about the term, from 0 to 1. */
  readonly strength: number;
}

interface Index {
  /** By stem. */
  readonly terms: ReadonlyMap<string, IndexedTerm>;
  readonly similarTerms: TermIndex<IndexedTerm>;
  /** The number of passages. */
  readonly count: number;
}

/**
 * An agent's knowledge rarely changes, and is searched for every answer. The size is in characters:
 * ten agents with as much knowledge as an agent can have.
 */
const indexes = new LRUCache<string, Index>({
  maxSize: 4_200_000,
  sizeCalculation: (_, key) => key.length,
});

function indexOf(passages: readonly Passage[]): Index {
  const key = JSON.stringify(passages.map(({ title, text }) => [title, text]));
  const index = indexes.get(key) ?? indexPassages(passages);
  indexes.set(key, index);
  return index;
}

function indexPassages(passages: readonly Passage[]): Index {
  const counted = passages.map(countTerms);
  const lengths = counted.reduce((sum, { length }) => sum + length, 0);
  const meanLength = Math.max(lengths / passages.length, 1);
  const terms = new Map<string, IndexedTerm>();
  for (const [at, { counts, length }] of counted.entries()) {
    for (const [stem, { meaning, count }] of counts) {
      const term: IndexedTerm = terms.get(stem) ?? { stem, meaning, mentions: [] };
      term.mentions.push({ at, strength: saturated(count, length / meanLength) });
      terms.set(stem, term);
    }
  }
  return { terms, similarTerms: new TermIndex([...terms.values()]), count: passages.length };
}

interface CountedTerms {
  /** By stem. A mention in the title counts `titleWeight` times. */
  readonly counts: ReadonlyMap<string, { readonly meaning: string; readonly count: number }>;
  /** The number of terms of the text, without the title. */
  readonly length: number;
}

function countTerms(passage: Passage): CountedTerms {
  const counts = new Map<string, { meaning: string; count: number }>();
  const add = ({ stem, meaning }: Term, weight: number): void => {
    counts.set(stem, { meaning, count: (counts.get(stem)?.count ?? 0) + weight });
  };
  const text = termsOf(passage.text);
  for (const term of termsOf(passage.title)) add(term, titleWeight);
  for (const term of text) add(term, 1);
  return { counts, length: text.length };
}

/**
 * Returns the terms of the whole text, and of each sentence by itself: people often tell a story
 * before they ask. If some sentences end with a question mark, only these are compared by
 * themselves.
 */
function partsOf(question: string): Term[][] {
  const sentences = question
    .split(/(?<=[.!?。！？])\s+|\n/)
    .filter((sentence) => sentence.trim() !== "");
  const asking = sentences.filter((sentence) => /[?？]\s*$/.test(sentence));
  const alone = (asking.length > 0 ? asking : sentences).slice(0, maxSentences);
  const parts = sentences.length > 1 ? [question, ...alone] : [question];
  return parts.map((text) => distinct(termsOf(text))).filter((terms) => terms.length > 0);
}

function distinct(terms: readonly Term[]): Term[] {
  return [...new Map(terms.map((term) => [term.meaning, term])).values()];
}

interface WeighedWord {
  /** How much each passage is about the word, from 0 to 1. */
  readonly strengths: readonly number[];
  readonly weight: number;
}

/** Compares a word of the question with the passages that have it or a similar word. */
function weigh(term: Term, { terms, similarTerms, count }: Index): WeighedWord {
  const strengths = Array.from({ length: count }, () => 0);
  for (const [other, similarity] of similarTerms.similarTo(term)) {
    for (const { at, strength } of other.mentions) {
      strengths[at] = Math.max(strengths[at] ?? 0, similarity * strength);
    }
  }
  // In a passage with the very word, similar ones count for nothing.
  for (const { at, strength } of terms.get(term.stem)?.mentions ?? []) strengths[at] = strength;
  const having = strengths.filter((strength) => strength > 0).length;
  const weight = rarity(Math.max(having, 1), count);
  return { strengths, weight: having === 0 ? weight * unknownWeight : weight };
}

/** Returns the relevance of each passage, from 0 to 1. */
function relevances(words: readonly WeighedWord[], count: number): number[] {
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  const covered = Array.from({ length: count }, () => 0);
  for (const { strengths, weight } of words) {
    for (const [i, strength] of strengths.entries()) {
      covered[i] = (covered[i] ?? 0) + weight * strength;
    }
  }
  return covered.map((each) => each / total);
}

/** BM25's inverse document frequency: `having` of `all` passages have the word. */
function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

/** How much a passage is about a word that it mentions so often, from 0 to 1. */
function saturated(count: number, relativeLength: number): number {
  return count / (count + saturation * (1 - lengthPenalty + lengthPenalty * relativeLength));
}
