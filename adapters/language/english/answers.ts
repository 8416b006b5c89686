/**
 * Answers to questions: yes or no, one of several options, and numbers as people write them: `12`,
 * `1,200.50`, `1.200,50`, `$20`, `for two`, `thirty-two`.
 */
import { containsPhrase, foldText, normalizedWords } from "../../../src/kernel/index.ts";
import { isDenied, phraseSet, withoutCourtesies } from "./set-phrases.ts";

/** The words for 0 to 19. Each is at the place of its value. */
export const units = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen " +
  "sixteen seventeen eighteen nineteen"
).split(" ");
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const numerals: ReadonlyMap<string, number> = new Map([
  ...units.map((word, value) => [word, value] as const),
  ...tens.map((word, place) => [word, 10 * (place + 2)] as const),
]);
const oneToNine = units.slice(1, 10).join("|");
/** `twelve`, `thirty`, `thirty-two` and `thirty two`, but not `thirty, two`. */
const numeral = new RegExp(
  String.raw`\b(?:(${tens.join("|")})(?:[\s-]+(${oneToNine}))?|` +
    String.raw`(${units.join("|")}))\b`,
  "g",
);

/** Words that make another number of the one beside them: `five hundred`, `two and a half`. */
const multiples = "hundreds?|thousands?|millions?|billions?|dozens?";
const parts = "hal(?:f|ves)|thirds?|quarters?|point|minus";
const ordinals = "first|second|(?:four|fif|six|seven|eigh|nin)th";
/** A text with these, with `2 1/2` or with `twenty-first` has a number that is not read. */
const unreadNumber = new RegExp(
  String.raw`\b(?:${multiples}|${parts}|(?:${tens.join("|")})[\s-]+(?:${ordinals}))\b|` +
    String.raw`\d\s+\d+\/\d`,
);

/** Figures that stand alone, and are not part of a time, a date, a range or a word. */
const figures = /(?<![\p{L}\p{N}.,/:-])[-+−]?\d(?:[\d.,]*\d)?(?![\p{L}\p{N}/:]|[-–]\s?\d)/gu;

/** "One" where it is a pronoun. */
const pronouns = /\b(?:the|this|that|which|first|last|no|other|another|any|each|either) one\b/g;

export function readNumber(text: string): number | undefined {
  const plain = foldText(text);
  if (isDenied(text) || unreadNumber.test(plain)) return undefined;
  const inFigures = (text.match(figures) ?? []).map(valueOf);
  const inWords = [...plain.replaceAll(pronouns, "").matchAll(numeral)].map(([, ...words]) =>
    words.reduce((sum, word) => sum + (numerals.get(word) ?? 0), 0),
  );
  const found = [...inFigures, ...inWords];
  return found.length === 1 ? found[0] : undefined;
}

/** Up to 12 digits before the point and 6 behind it: a double holds these exactly. */
const decimal = /^\d{1,12}(?:\.\d{1,6})?$/;

interface Notation {
  readonly shape: RegExp;
  readonly group: string;
  readonly point: string;
}

const notations: readonly Notation[] = [
  // `1,200` and `1,200.50`.
  { shape: /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/, group: ",", point: "." },
  // `2,5` and `0,125`, `1.200.000` and `1.200,50`.
  {
    shape: /^(?:\d+,\d{1,2}|0,\d+|[1-9]\d{0,2}(?:(?:\.\d{3}){2,}|(?:\.\d{3})+,\d+))$/,
    group: ".",
    point: ",",
  },
];

/**
 * `1.200` is 1.2 to people who write a decimal point, and 1200 to people who write a decimal comma.
 * `1,200` is always 1200 in English. Hardly anyone writes 1.2 as `1,200`.
 */
const ambiguous = /^[1-9]\d{0,2}\.\d{3}$/;

/** Returns undefined if the figures could be read in two ways, or in none. */
function valueOf(written: string): number | undefined {
  const sign = /^[-−]/.test(written) ? -1 : 1;
  const digits = written.replace(/^[-+−]/, "");
  if (ambiguous.test(digits)) return undefined;
  const notation = notations.find(({ shape }) => shape.test(digits));
  const plain =
    notation === undefined
      ? digits
      : digits.replaceAll(notation.group, "").replace(notation.point, ".");
  // Adding 0 makes a 0 of -0.
  return decimal.test(plain) ? sign * Number(plain) + 0 : undefined;
}

/** Courtesies with a word that may be an option: a time of day, or "no". */
const courtesies = /\b(?:good (?:morning|afternoon|evening|night|day)|no (?:problem|worries))\b/g;

interface Choice {
  readonly option: string;
  readonly words: string;
}

/**
 * Compares an answer with the options in this order: the same text, the same words, the place in
 * the list, the only option that begins with the answer, the only option that the answer contains.
 */
export function readChoice(text: string, options: readonly string[]): string | undefined {
  const same = options.find((option) => option.trim().toLowerCase() === text.toLowerCase());
  if (same !== undefined) return same;
  const choices = options
    .map((option) => ({ option, words: normalizedWords(option) }))
    .filter(({ words }) => words !== "");
  const answer = withoutCourtesies(text);
  const equal = onlyOption(choices, ({ words }) => withSizes(words) === withSizes(answer));
  if (equal !== undefined) return equal;
  const [, place] = /^(?:number |no |option )?(\d{1,2})$/.exec(answer) ?? [];
  if (place !== undefined) {
    // If the options have digits themselves, a digit may stand for one of them, not for a place.
    return choices.some(({ words }) => /\d/.test(words)) ? undefined : options[Number(place) - 1];
  }
  if (answer === "" || isDenied(text) || refusesOne(text, choices)) return undefined;
  const wanted = withSizes(answer.replaceAll(courtesies, ""));
  return (
    onlyOption(choices, ({ words }) => words.startsWith(answer)) ??
    onlyOption(choices, ({ words }) => isNamed(words, wanted, choices))
  );
}

/** Whether a text names an option, and not only a longer one: "early morning" is no "morning". */
function isNamed(words: string, text: string, choices: readonly Choice[]): boolean {
  const name = withSizes(words);
  const longer = choices
    .map((other) => withSizes(other.words))
    .filter((other) => other !== name && containsPhrase(other, name));
  const rest = longer.reduce((left, other) => left.replaceAll(` ${other} `, " / "), ` ${text} `);
  return containsPhrase(rest, name);
}

/** Returns words with "xl" for "extra large" and "x large": it is another size than "large". */
function withSizes(words: string): string {
  return words.replaceAll(
    /\b((?:(?:extra|x) ){1,4})(large|small)\b/g,
    (_, marks: string, size: string) =>
      `${"x".repeat(marks.split(" ").length - 1)}${size.charAt(0)}`,
  );
}

/** Whether the text says "no haircut", unlike "no, haircut". "No no" does not refuse a "no". */
function refusesOne(text: string, choices: readonly Choice[]): boolean {
  const clauses = text.split(/[,.;:!?\n–—]/).map(normalizedWords);
  return choices.some(
    ({ words }) =>
      !/^no\b/.test(words) && clauses.some((clause) => containsPhrase(clause, `no ${words}`)),
  );
}

function onlyOption(
  choices: readonly Choice[],
  matches: (choice: Choice) => boolean,
): string | undefined {
  const [first, ...others] = choices.filter(matches);
  return others.length === 0 ? first?.option : undefined;
}

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
 * A yes or no at the start of a sentence, with no comma after it: "yes I can make it", "no make it
 * Tuesday".
 */
const nextWords = "i|we|it|that|the|my|make|lets|im|its|sorry|but|not|on|at|for|id";
const opening = new RegExp(String.raw`^(yes|yep|yeah|yup|no|nope|nah) (?:(?:${nextWords})\b)`);

/**
 * Only the yes or no is read. What follows it, such as a correction, is ignored, unless it takes
 * the yes back: "Ok, no".
 */
export function readBoolean(text: string): boolean | undefined {
  const words = withoutCourtesies(text);
  const whole = lookUp(words);
  if (whole !== undefined) return whole;
  const [first, ...others] = text
    .split(/[,.;:!?\n–—]|\bbut\b/)
    .map((clause) => lookUp(withoutCourtesies(clause)));
  if (first === true && others.includes(false)) return undefined;
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
