/** Numbers as people write them: `12`, `1,200.50`, `1.200,50`, `$20`, `for two`. */
import { isDenied, wordsOf } from "./words.ts";

const names: ReadonlyMap<string, number> = new Map(
  [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
  ]
    .concat([
      "thirteen",
      "fourteen",
      "fifteen",
      "sixteen",
      "seventeen",
      "eighteen",
      "nineteen",
      "twenty",
    ])
    .map((name, value) => [name, value]),
);

/** By itself: not part of a time, a date, a range or a word. */
const figures = /(?<![\p{L}\p{N}.,/:-])[-+−]?\d(?:[\d.,]*\d)?(?![\p{L}\p{N}/:]|[-–]\s?\d)/gu;

/** The one number in a text; undefined where there is none, more than one, or one that is denied. */
export function readNumber(text: string): number | undefined {
  if (isDenied(text)) return undefined;
  const inFigures = (text.match(figures) ?? []).map(valueOf);
  const inWords = wordsOf(text)
    .replace(otherOnes, "")
    .split(" ")
    .flatMap((word) => names.get(word) ?? []);
  const found = [...inFigures, ...inWords];
  return found.length === 1 ? found[0] : undefined;
}

/** A "one" that counts nothing. */
const otherOnes = /\b(?:the|this|that|which|first|last|no|other|another|any|each|either) one\b/g;

/** Digits that a number has at most: before the point, and behind it. More would not come out as they were written. */
const plain = /^\d{1,12}(?:\.\d{1,6})?$/;

/** The value of figures; undefined where it could be read in two ways, or in none. */
function valueOf(figures: string): number | undefined {
  const sign = /^[-−]/.test(figures) ? -1 : 1;
  const digits = figures.replace(/^[-+−]/, "");
  const point = [commaGroups, commaDecimals, dotGroups].find(({ shape }) => shape.test(digits));
  const text =
    point === undefined ? digits : digits.replaceAll(point.group, "").replace(point.decimal, ".");
  // No negative zero.
  return plain.test(text) ? sign * Number(text) + 0 : undefined;
}

const commaGroups = { shape: /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/, group: ",", decimal: "." };
const dotGroups = {
  shape: /^\d{1,3}(?:\.\d{3}){2,}$|^\d{1,3}(?:\.\d{3})+,\d+$/,
  group: ".",
  decimal: ",",
};
const commaDecimals = { shape: /^\d+,\d{1,2}$/, group: ".", decimal: "," };
