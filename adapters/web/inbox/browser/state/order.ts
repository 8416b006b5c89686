/**
 * Puts what the page learns into an order. Answers overtake each other: an answer may be older than
 * one that arrived before it, or than an event that arrived while the request was under way.
 */
let last = 0;

/** The place of a request that begins now, or of an event that arrives now. */
export const nextSequence = (): number => (last += 1);
