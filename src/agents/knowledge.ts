/** Finds what an agent knows about a question: by words alone, so it is the same for every model, and needs none. */
import { LRUCache } from "lru-cache";
import { likeness, termsOf, type Term } from "./words.ts";

export interface Piece {
  readonly title: string;
  readonly text: string;
}

export interface RelevantPiece extends Piece {
  /** How much of what is asked the piece speaks of, from 0 to 1. */
  readonly relevance: number;
}

/** A title says what the whole piece is about. In mentions in the text. */
const titleWeight = 4;
/** How soon another mention adds nothing (k1 of Okapi BM25, which is 1.2 for long documents), and how much a long text counts for less (b). */
const saturation = 0.25;
const lengthPenalty = 0.4;
/** A word that no piece has means that what is asked isn't covered, or is one of the many that people put around a question. */
const unknownWeight = 0.7;
/** People tell their story, then ask. Sentences beyond so many are not looked at one by one. */
const mostSentences = 8;

/**
 * The pieces that have to do with what was asked, best first, at most `most`. Relevance is the share of the question's words, each by how
 * rare it is among the pieces (the idf of Robertson and Walker's BM25), that the piece has: near 1 when it speaks of all of them, 0 when of
 * none, so it can be held against a threshold. Of several sentences the one that fits best counts.
 */
export function relevantKnowledge(
  knowledge: readonly Piece[],
  asked: string,
  most: number,
): readonly RelevantPiece[] {
  const questions = questionsIn(asked);
  if (questions.length === 0) return [];
  const pieces = knowledge.map(indexOf);
  const meanLength = Math.max(
    pieces.reduce((sum, { length }) => sum + length, 0) / pieces.length,
    1,
  );
  const found = questions.map((question) => relevances(question, pieces, meanLength));
  const ranked = pieces.map(({ piece: { title, text } }, index) => {
    const best = Math.max(...found.map((relevance) => relevance[index] ?? 0));
    return { title, text, relevance: Math.round(best * 1_000) / 1_000 };
  });
  const relevant = ranked.filter(({ relevance }) => relevance > 0);
  return relevant.toSorted((one, other) => other.relevance - one.relevance).slice(0, most);
}

interface Indexed {
  readonly piece: Piece;
  /** By stem; how often, with the title's weight. */
  readonly mentions: ReadonlyMap<string, { readonly term: Term; readonly times: number }>;
  readonly length: number;
}

/** Agents are asked again and again, and seldom learn: what a piece's words are is found out once. */
const indexes = new LRUCache<string, Indexed>({ max: 1_000 });

function indexOf(piece: Piece): Indexed {
  const key = JSON.stringify([piece.title, piece.text]);
  const known = indexes.get(key) ?? indexed(piece);
  indexes.set(key, known);
  return known;
}

function indexed(piece: Piece): Indexed {
  const mentions = new Map<string, { term: Term; times: number }>();
  const add = (weight: number) => (term: Term) =>
    mentions.set(term.stem, { term, times: (mentions.get(term.stem)?.times ?? 0) + weight });
  const text = termsOf(piece.text);
  termsOf(piece.title).forEach(add(titleWeight));
  text.forEach(add(1));
  return { piece, mentions, length: text.length };
}

/** The sentences that ask, each as its words; without any, all sentences; and the text as a whole. */
function questionsIn(asked: string): Term[][] {
  const sentences = asked
    .split(/(?<=[.!?。！？])\s+|\n/)
    .filter((sentence) => sentence.trim() !== "");
  const asking = sentences.filter((sentence) => /[?？]\s*$/.test(sentence));
  const alone = (asking.length > 0 ? asking : sentences).slice(0, mostSentences);
  const looked = sentences.length > 1 ? [asked, ...alone] : [asked];
  return looked.map((text) => distinct(termsOf(text))).filter((terms) => terms.length > 0);
}

function distinct(terms: readonly Term[]): Term[] {
  return [...new Map(terms.map((term) => [term.meaning, term])).values()];
}

function relevances(
  question: readonly Term[],
  pieces: readonly Indexed[],
  meanLength: number,
): number[] {
  const words = question.map((term) => {
    const strengths = pieces.map((piece) => strength(term, piece, meanLength));
    const having = strengths.filter((each) => each > 0).length;
    const weight = rarity(Math.max(having, 1), pieces.length);
    return { strengths, weight: having === 0 ? weight * unknownWeight : weight };
  });
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  return pieces.map(
    (_, index) =>
      words.reduce((sum, { strengths, weight }) => sum + weight * (strengths[index] ?? 0), 0) /
      total,
  );
}

function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

/** How much a piece speaks of a word, from 0 to 1. */
function strength(term: Term, { mentions, length }: Indexed, meanLength: number): number {
  const same = mentions.get(term.stem);
  if (same !== undefined) return saturated(same.times, length / meanLength);
  let best = 0;
  for (const other of mentions.values()) {
    const like = likeness(term, other.term);
    if (like > 0) best = Math.max(best, like * saturated(other.times, length / meanLength));
  }
  return best;
}

function saturated(times: number, relativeLength: number): number {
  return times / (times + saturation * (1 - lengthPenalty + lengthPenalty * relativeLength));
}
