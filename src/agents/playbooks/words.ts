/** Words as they are compared: without case and accents, with one kind of apostrophe. */
export function folded(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[‘’`´]/g, "'");
}

/** Scripts that put no blank between words: there each character counts as one. An emoji is a word too. */
const unspaced = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{Extended_Pictographic}`;
const word = new RegExp(`(?![${unspaced}])[\\p{L}\\p{N}][\\p{L}\\p{N}']*|[${unspaced}]`, "gu");

/** The words of a text, one blank between two, without punctuation and apostrophes. */
export function wordsOf(text: string): string {
  return (folded(text).match(word) ?? []).map((each) => each.replaceAll("'", "")).join(" ");
}

/** Whether a phrase, given as `wordsOf`, is in the words of a text. */
export function hasPhrase(words: string, phrase: string): boolean {
  return phrase !== "" && ` ${words} `.includes(` ${phrase} `);
}

/** Something is denied, or excluded: what is named besides may be what is not meant. */
export function isDenied(text: string): boolean {
  return /\b(?:not|except|cant|cannot|dont|wont|isnt|never|no longer|anything but)\b/.test(
    wordsOf(text),
  );
}

const politeness =
  /^(?:please|pls|plz|well|oh|um|hi|hello|actually|just) | (?:please|pls|plz|thanks|thank you|thx|sir|maam|then)$/g;

/** The words without what is only manners. */
export function plainWords(text: string): string {
  return wordsOf(text).replace(politeness, "").replace(politeness, "");
}

const callsOff: ReadonlySet<string> = new Set(
  [
    "cancel",
    "cancel it",
    "cancel that",
    "cancel this",
    "never mind",
    "nevermind",
    "nvm",
    "forget it",
    "forget that",
  ].concat([
    "forget about it",
    "stop this",
    "stop that",
    "lets stop",
    "i changed my mind",
    "changed my mind",
    "abort",
  ]),
);

/** Whether the whole message says that it is not to go on. */
export function isCallingOff(text: string): boolean {
  return callsOff.has(plainWords(text));
}

const nothing: ReadonlySet<string> = new Set(
  [
    "skip",
    "skip it",
    "skip this",
    "skip that",
    "pass",
    "none",
    "nothing",
    "na",
    "n a",
    "no",
    "nope",
    "nah",
  ].concat([
    "i dont know",
    "dont know",
    "no idea",
    "not sure",
    "i dont have one",
    "nothing else",
    "thats all",
  ]),
);

/** Whether the whole message says that there is nothing to say. */
export function isNothing(text: string): boolean {
  return nothing.has(plainWords(text));
}
