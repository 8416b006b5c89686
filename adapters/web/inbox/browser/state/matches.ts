/** The messages that the search of the list has found. */
import { signal } from "@preact/signals";
import type { Message } from "../../../../../src/index.ts";

/** The newest message of each conversation that has the words, by the conversation's id. */
export const matches = signal<ReadonlyMap<string, Message>>(new Map());

/** Forgets a message that has lost its text. */
export function forgetMatch(conversationId: string, messageId: string): void {
  if (matches.peek().get(conversationId)?.id === messageId) forgetMatchIn(conversationId);
}

/** Forgets the message that was found in a conversation. */
export function forgetMatchIn(conversationId: string): void {
  const left = new Map(matches.peek());
  left.delete(conversationId);
  matches.value = left;
}

/** A piece of a text. */
export interface Piece {
  readonly text: string;
  readonly isFound: boolean;
}

/**
 * How many characters the excerpt has before what was found. A row has room for about 25, and the
 * person must see what was found.
 */
const before = 12;
const maxExcerpt = 300;

/** The part of a text with the words that were found, or its beginning. */
export function excerpt(body: string, words: string): readonly Piece[] {
  const parts = words.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join("|")})`, "iu");
  const found = parts.length === 0 ? -1 : body.search(pattern);
  const start = found <= before ? 0 : startOfWord(body, found - before);
  // Half of a character has no glyph.
  const rest = body.slice(start, start + maxExcerpt).replaceAll(/\p{Cs}/gu, "");
  const pieces: Piece[] = start === 0 ? [] : [{ text: "…", isFound: false }];
  if (found === -1) return [...pieces, { text: rest, isFound: false }];
  const all = new RegExp(`(${pattern.source})`, "iu");
  // Every second piece is one that the pattern matched.
  rest.split(all).forEach((text, index) => {
    if (text !== "") pieces.push({ text, isFound: index % 2 === 1 });
  });
  return pieces;
}

/** The first word that begins at a place or after it. */
function startOfWord(text: string, from: number): number {
  const space = text.slice(from).search(/\s/);
  return space === -1 || space > before ? from : from + space + 1;
}
