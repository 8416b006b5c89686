/** Numbers as people write them: `12`, `1,200.50`, `1.200,50`, `$20`, `for two`. */
import { normalizedWords } from "../../../src/kernel/index.ts";
import { isDenied } from "./phrases.ts";

const numerals: ReadonlyMap<string, number> = new Map(
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
  sixteen seventeen eighteen nineteen twenty`
    .split(/\s+/)
    .map((word, value) => [word, value]),
);

/** Figures that stand alone, and are not part of a time, a date, a range or a word. */
const figures = /(?<![\p{L}\p{N}.,/:-])[-+−]?\d(?:[\d.,]*\d)?(?![\p{L}\p{N}/:]|[-–]\s?\d)/gu;

/** "One" where it is a pronoun. */
const pronouns = /\b(?:the|this|that|which|first|last|no|other|another|any|each|either) one\b/g;

export function readNumber(text: string): number | undefined {
  if (isDenied(text)) return undefined;
  const inFigures = (text.match(figures) ?? []).map(valueOf);
  const inWords = normalizedWords(text)
    .replace(pronouns, "")
    .split(" ")
    .flatMap((word) => numerals.get(word) ?? []);
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

/** `1,200` is one thousand two hundred, and `2,5` is two and a half. */
const notations: readonly Notation[] = [
  { shape: /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/, group: ",", point: "." },
  { shape: /^\d+,\d{1,2}$/, group: ".", point: "," },
  { shape: /^\d{1,3}(?:\.\d{3}){2,}$|^\d{1,3}(?:\.\d{3})+,\d+$/, group: ".", point: "," },
];

/** Returns undefined if the figures could be read in two ways, or in none. */
function valueOf(written: string): number | undefined {
  const sign = /^[-−]/.test(written) ? -1 : 1;
  const digits = written.replace(/^[-+−]/, "");
  const notation = notations.find(({ shape }) => shape.test(digits));
  const plain =
    notation === undefined
      ? digits
      : digits.replaceAll(notation.group, "").replace(notation.point, ".");
  // Adding 0 makes a 0 of -0.
  return decimal.test(plain) ? sign * Number(plain) + 0 : undefined;
}
