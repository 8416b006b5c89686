/**
 * Ranks passages by the words of a question, in the manner of Okapi BM25 (Robertson and Walker).
 * The result is scaled to the share of the question that a passage covers, so that one threshold
 * fits all questions.
 */
import { LRUCache } from "lru-cache";
import type { Passage, RankedPassage } from "../../../src/ports/index.ts";
import { termsOf, type Term, Vocabulary } from "./terms.ts";

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
  const indexed = passages.map(indexedPassage);
  const meanLength = Math.max(
    indexed.reduce((sum, { length }) => sum + length, 0) / indexed.length,
    1,
  );
  const vocabulary = vocabularyOf(indexed);
  const found = parts.map((part) =>
    relevances(part, { passages: indexed, vocabulary, meanLength }),
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

interface Mentions {
  readonly term: Term;
  /** How often the passage has it; mentions in the title count `titleWeight` times. */
  readonly count: number;
}

interface IndexedPassage {
  /** By stem. */
  readonly mentions: ReadonlyMap<string, Mentions>;
  /** The number of terms of the text, without the title. */
  readonly length: number;
}

/** An agent's knowledge rarely changes, and is searched for every answer. */
const indexes = new LRUCache<string, IndexedPassage>({ max: 1_000 });

function indexedPassage(passage: Passage): IndexedPassage {
  const key = JSON.stringify([passage.title, passage.text]);
  const indexed = indexes.get(key) ?? indexPassage(passage);
  indexes.set(key, indexed);
  return indexed;
}

/** Returns the terms of all passages, each once. */
function vocabularyOf(passages: readonly IndexedPassage[]): Vocabulary {
  const terms = new Map<string, Term>();
  for (const { mentions } of passages) {
    for (const [stem, { term }] of mentions) terms.set(stem, term);
  }
  return new Vocabulary([...terms.values()]);
}

function indexPassage(passage: Passage): IndexedPassage {
  const mentions = new Map<string, Mentions>();
  const add = (term: Term, weight: number): void => {
    mentions.set(term.stem, { term, count: (mentions.get(term.stem)?.count ?? 0) + weight });
  };
  const text = termsOf(passage.text);
  for (const term of termsOf(passage.title)) add(term, titleWeight);
  for (const term of text) add(term, 1);
  return { mentions, length: text.length };
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

interface Knowledge {
  readonly passages: readonly IndexedPassage[];
  readonly vocabulary: Vocabulary;
  readonly meanLength: number;
}

/** Returns the relevance of each passage, from 0 to 1. */
function relevances(
  part: readonly Term[],
  { passages, vocabulary, meanLength }: Knowledge,
): number[] {
  const words = part.map((term) => {
    const similar = vocabulary.similarTo(term);
    const strengths = passages.map((passage) => strength(term, similar, passage, meanLength));
    const having = strengths.filter((each) => each > 0).length;
    const weight = rarity(Math.max(having, 1), passages.length);
    return { strengths, weight: having === 0 ? weight * unknownWeight : weight };
  });
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  return passages.map((_, i) => {
    const covered = words.reduce(
      (sum, { strengths, weight }) => sum + weight * (strengths[i] ?? 0),
      0,
    );
    return covered / total;
  });
}

/** BM25's inverse document frequency: `having` of `all` passages have the word. */
function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

/** How much a passage is about a word, from 0 to 1. `similar` are the known words like it. */
function strength(
  { stem }: Term,
  similar: ReturnType<Vocabulary["similarTo"]>,
  { mentions, length }: IndexedPassage,
  meanLength: number,
): number {
  const same = mentions.get(stem);
  if (same !== undefined) return saturated(same.count, length / meanLength);
  let best = 0;
  for (const [other, similarity] of similar) {
    const mentioned = mentions.get(other.stem);
    if (mentioned === undefined) continue;
    best = Math.max(best, similarity * saturated(mentioned.count, length / meanLength));
  }
  return best;
}

function saturated(count: number, relativeLength: number): number {
  return count / (count + saturation * (1 - lengthPenalty + lengthPenalty * relativeLength));
}
