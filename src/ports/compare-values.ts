import type { KeyValue } from "./collection.ts";

/**
 * Compares two values of a column that differ, as the storages order them: null first, then `false`
 * before `true`, numbers by size, and text by code point. Returns a negative number if `a` comes
 * first. Do not call it with equal values.
 */
export function compareValues(a: KeyValue, b: KeyValue): number {
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  if (a === null) return -1;
  if (b === null) return 1;
  return Number(a) - Number(b);
}

const high = /[\ud800-\uffff]/;

/**
 * JavaScript compares text by 16-bit units. Surrogates, which stand for the highest code points,
 * would then sort before U+E000. That matters only if both texts have units from U+D800 on.
 */
function compareTexts(a: string, b: string): number {
  if (!high.test(a)) return a < b ? -1 : 1;
  let i = 0;
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return rankOfUnit(a, i) - rankOfUnit(b, i);
}

/** Ranks a 16-bit unit, or the end of the text, so that surrogates come last. */
function rankOfUnit(text: string, i: number): number {
  if (i >= text.length) return -1;
  const unit = text.charCodeAt(i);
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
