/** Yes and no as people say them, in English. */
import { plainWords } from "./words.ts";

const yes: ReadonlySet<string> = new Set(
  [
    "yes",
    "yes yes",
    "y",
    "yep",
    "yeah",
    "yup",
    "ya",
    "sure",
    "sure thing",
    "ok",
    "okay",
    "k",
    "alright",
    "all right",
  ].concat(
    [
      "correct",
      "thats correct",
      "right",
      "thats right",
      "true",
      "absolutely",
      "definitely",
      "certainly",
      "of course",
    ],
    [
      "affirmative",
      "sounds good",
      "sounds great",
      "looks good",
      "perfect",
      "great",
      "good",
      "fine",
      "thats fine",
    ],
    [
      "yes do",
      "please do",
      "do it",
      "do that",
      "do",
      "go ahead",
      "yes go ahead",
      "go for it",
      "i do",
      "i am",
      "it is",
    ],
    [
      "i agree",
      "agreed",
      "confirm",
      "confirmed",
      "i confirm",
      "no problem",
      "no worries",
      "why not",
      "👍",
      "✅",
      "👌",
    ],
  ),
);

const no: ReadonlySet<string> = new Set(
  [
    "no",
    "no no",
    "n",
    "nope",
    "nah",
    "no way",
    "never",
    "not really",
    "wrong",
    "thats wrong",
    "incorrect",
    "false",
  ].concat(
    [
      "not correct",
      "thats not right",
      "not right",
      "negative",
      "dont",
      "do not",
      "i dont",
      "i do not",
      "im not",
    ],
    [
      "i am not",
      "it is not",
      "it isnt",
      "absolutely not",
      "definitely not",
      "of course not",
      "not at all",
      "👎",
      "❌",
    ],
  ),
);

/** Says it even where it goes on without a comma: "yes I can make it", "no make it Tuesday". */
const opening =
  /^(yes|yep|yeah|yup|no|nope|nah) (?:(?:i|we|it|that|the|my|make|lets|im|its|sorry|but|not|on|at|for|id)\b)/;

/** Whether a text says yes or no; what else it says, such as a correction, is not looked at. Undefined where it says neither. */
export function readYesNo(text: string): boolean | undefined {
  const whole = judged(plainWords(text));
  if (whole !== undefined) return whole;
  const [clause = ""] = text.split(/[,.;:!?\n–—]|\bbut\b/);
  const first = judged(plainWords(clause));
  if (first !== undefined) return first;
  const [, word] = opening.exec(plainWords(text)) ?? [];
  return word === undefined ? undefined : yes.has(word);
}

function judged(words: string): boolean | undefined {
  return yes.has(words) ? true : no.has(words) ? false : undefined;
}
