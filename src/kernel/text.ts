/**
 * Which combining marks are removed.
 * - `all`: every mark. `café` becomes `cafe`, and the vowel signs of Thai or Hindi go too.
 * - `accents`: the accents of Latin, Greek and Cyrillic letters. Marks of other scripts distinguish
 *   words and stay.
 * - `none`: no mark.
 */
type RemovedMarks = "all" | "accents" | "none";

const accents = /[\u0300-\u036f]/g;

/** Writes every kind of apostrophe as `'`. */
export function straightenApostrophes(text: string): string {
  return text.replaceAll(/[‘’`´\u1fef\uff40]/g, "'");
}

/**
 * Folds a text, so that texts which differ only in their writing become equal: full-width and other
 * compatibility forms, upper and lower case, marks, and the kind of apostrophe. `ß` becomes `ss`.
 * Punctuation and white space stay.
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
      return folded.replaceAll(/\p{M}/gu, "");
    case "accents":
      return folded.replaceAll(accents, "").normalize("NFC");
    case "none":
      return folded.normalize("NFC");
  }
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
