/**
 * Which combining marks are removed. With marks, the strokes of letters such as `ł` go too.
 * - `all`: every mark. `café` becomes `cafe`, and the vowel signs of Thai or Hindi go too.
 * - `accents`: the accents of Latin, Greek and Cyrillic letters. Marks of other scripts distinguish
 *   words and stay.
 * - `none`: no mark.
 */
type RemovedMarks = "all" | "accents" | "none";

const accents = /[\u0300-\u036f]/g;

/** Letters that Unicode does not decompose, although people write them without their stroke. */
const plainLetters: Readonly<Record<string, string>> = {
  æ: "ae",
  ð: "d",
  đ: "d",
  ħ: "h",
  ł: "l",
  œ: "oe",
  ø: "o",
  þ: "th",
  ŧ: "t",
};
const strokes = /[æðđħłœøþŧ]/g;

/** Writes every kind of apostrophe as `'`. */
export function straightenApostrophes(text: string): string {
  return text.replaceAll(/[‘’`´\u1fef\uff40]/g, "'");
}

/**
 * Folds a text, so that texts which differ only in their writing become equal: full-width and other
 * compatibility forms, upper and lower case, marks, and the kind of apostrophe. `ß` becomes `ss`,
 * and `ł` becomes `l`. Punctuation and white space stay.
 */
export function foldText(text: string, removed: RemovedMarks = "all"): string {
  // Upper case turns `ß` into `SS`. Lower case comes first, because `ẞ` stays `ẞ` in upper case. It
  // also comes last, because some letters decompose only in lower case.
  const folded = straightenApostrophes(text)
    .normalize("NFKD")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll("ς", "σ");
  switch (removed) {
    case "all":
      return withoutStrokes(folded.replaceAll(/\p{M}/gu, ""));
    case "accents":
      return withoutStrokes(folded.replaceAll(accents, "")).normalize("NFC");
    case "none":
      return folded.normalize("NFC");
  }
}

function withoutStrokes(text: string): string {
  return text.replaceAll(strokes, (letter) => plainLetters[letter] ?? letter);
}

/** Scripts without spaces between words: each character counts as a word. So does an emoji. */
const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{Extended_Pictographic}`;
const word = new RegExp(`(?![${unspaced}])[\\p{L}\\p{N}][\\p{L}\\p{N}']*|[${unspaced}]`, "gu");

/**
 * Returns the words of a text, folded, with one space between two. Punctuation is left out, and an
 * apostrophe within a word too: `Don’t!` becomes `dont`.
 */
export function normalizedWords(text: string): string {
  return (foldText(text).match(word) ?? []).map((each) => each.replaceAll("'", "")).join(" ");
}

/**
 * Whether a phrase occurs in a text as whole words. Both are given as `normalizedWords` returns
 * them.
 */
export function containsPhrase(words: string, phrase: string): boolean {
  return phrase !== "" && ` ${words} `.includes(` ${phrase} `);
}

/**
 * Returns the known name that a misspelled one most resembles, or undefined if none is close.
 * Upper and lower case and punctuation do not count, so `idempotency_key` resembles
 * `idempotencyKey`.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = bareName(name);
  const maxDistance = Math.max(1, wanted.length / 3);
  const [nearest] = known
    .map((each) => ({ each, bare: bareName(each) }))
    // Names differ at least as much as their lengths. A request may have very many wrong names.
    .filter(({ bare }) => Math.abs(bare.length - wanted.length) <= maxDistance)
    .map(({ each, bare }) => ({ each, distance: editDistance(wanted, bare) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.each;
}

function bareName(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
}

/** How many characters to insert, remove, replace or swap with the next (Damerau-Levenshtein). */
export function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (previous[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isSwap = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwap ? (beforePrevious[j - 1] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}

/** A media type without its parameters (RFC 9110, section 8.3.1). */
const mediaType = /^[\w.+-]{1,127}\/[\w.+-]{1,127}(?=[ \t]*(?:;|$))/;

/** Returns a media type without its parameters. Undefined if the text is no media type. */
export function mediaTypeOf(text: string): string | undefined {
  return mediaType.exec(text)?.[0];
}

/**
 * Returns the first `max` characters of a text. Leaves the last one out if only one half of its
 * surrogate pair would be among them.
 */
export function firstCharacters(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Returns an unchecked text, made storable, in at most `max` Unicode code points. A longer text is
 * cut and ends with an ellipsis, so that its reader sees that the rest is missing.
 */
export function storable(text: string, max: number): string {
  // A code point has one or two code units, so this slice is long enough to show a longer text.
  const points = Array.from(text.slice(0, 2 * max + 1));
  const kept = points.length <= max ? points : [...points.slice(0, max - 1), "…"];
  return kept.join("").toWellFormed().replaceAll("\0", "");
}
