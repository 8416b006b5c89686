/** Phrases that decide what a whole message means, and words that do not. */
import { normalizedWords } from "../../../src/kernel/index.ts";

/**
 * Reads a list of phrases, separated by commas. They are written as `normalizedWords` returns them.
 */
export function phraseSet(list: string): ReadonlySet<string> {
  return new Set(list.split(",").map((phrase) => phrase.trim()));
}

const denial = new RegExp(
  String.raw`\b(?:not|cannot|(?:ca|do|does|did|wo|would|could|should|is|are|was)nt|never|` +
    String.raw`no longer|except|all but|(?:any|every)(?: ?\w+)? but)\b`,
);

/** Whether a text denies or excludes something. What it names may then be what it does not mean. */
export function isDenied(text: string): boolean {
  return denial.test(normalizedWords(text));
}

const courtesyBefore = "please|pls|plz|well|oh|um|hi|hello|actually|just";
const courtesyAfter = "please|pls|plz|thanks|thank you|thx|sir|maam|then";
const courtesies = new RegExp(`^(?:${courtesyBefore}) | (?:${courtesyAfter})$`, "g");

/** Returns the words of a text, without up to two courtesies at either end: `hi`, `please`. */
export function withoutCourtesies(text: string): string {
  return normalizedWords(text).replace(courtesies, "").replace(courtesies, "");
}

const cancellations = phraseSet(
  `cancel, cancel it, cancel that, cancel this, never mind, nevermind, nvm, forget it, forget that,
  forget about it, stop this, stop that, lets stop, i changed my mind, changed my mind, abort`,
);

export function isCancellation(text: string): boolean {
  return cancellations.has(withoutCourtesies(text));
}

const skips = phraseSet(
  `skip, skip it, skip this, skip that, pass, none, nothing, na, n a, no, nope, nah,
  i dont know, dont know, no idea, not sure, i dont have one, nothing else, thats all`,
);

export function isSkip(text: string): boolean {
  return skips.has(withoutCourtesies(text));
}
