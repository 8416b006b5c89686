import { phraseSet, withoutCourtesies } from "./phrases.ts";

const yes = phraseSet(
  `yes, yes yes, y, yep, yeah, yup, ya, sure, sure thing, ok, okay, k, alright, all right,
  correct, thats correct, right, thats right, true, absolutely, definitely, certainly, of course,
  affirmative, sounds good, sounds great, looks good, perfect, great, good, fine, thats fine,
  yes do, please do, do it, do that, do, go ahead, yes go ahead, go for it, i do, i am, it is,
  i agree, agreed, confirm, confirmed, i confirm, no problem, no worries, why not, 👍, ✅, 👌`,
);

const no = phraseSet(
  `no, no no, n, nope, nah, no way, never, not really, wrong, thats wrong, incorrect, false,
  not correct, thats not right, not right, negative, dont, do not, i dont, i do not, im not,
  i am not, it is not, it isnt, absolutely not, definitely not, of course not, not at all, 👎, ❌`,
);

/**
 * A yes or no that the sentence continues without a comma: "yes I can make it", "no make it
 * Tuesday".
 */
const opening =
  /^(yes|yep|yeah|yup|no|nope|nah) (?:(?:i|we|it|that|the|my|make|lets|im|its|sorry|but|not|on|at|for|id)\b)/;

/** Only the yes or no is read. What follows it, such as a correction, is ignored. */
export function readBoolean(text: string): boolean | undefined {
  const words = withoutCourtesies(text);
  const whole = lookUp(words);
  if (whole !== undefined) return whole;
  const [clause = ""] = text.split(/[,.;:!?\n–—]|\bbut\b/);
  const first = lookUp(withoutCourtesies(clause));
  if (first !== undefined) return first;
  const [, word] = opening.exec(words) ?? [];
  return word === undefined ? undefined : yes.has(word);
}

function lookUp(words: string): boolean | undefined {
  if (yes.has(words)) return true;
  return no.has(words) ? false : undefined;
}

export function formatBoolean(value: boolean): string {
  return value ? "yes" : "no";
}
