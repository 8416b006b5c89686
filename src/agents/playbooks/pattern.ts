/**
 * Patterns that answers have to fit: regular expressions of the host's, over what strangers write. JavaScript's matcher tries one way
 * after the other, and some patterns have more ways than there is time for; so the ways are counted before a pattern is taken. That says
 * no to some that would be harmless, and to all that are not.
 */

/** Characters of an answer that a pattern is held against; a longer one doesn't fit. */
const mostMatched = 100;
/** Three `+` over the longest answer have a million, tried in some milliseconds; the worst that are taken need a tenth of a second. */
const mostWays = 1_100_000;

/** What is wrong with a pattern, in a sentence; undefined when it may be used. */
export function patternProblem(source: string): string | undefined {
  try {
    void new RegExp(source, "u");
  } catch (error) {
    if (error instanceof SyntaxError) {
      return "must be a regular expression of JavaScript with flag u";
    }
    throw error;
  }
  const reader = new Reader(source);
  const ways = waysOfChoice(reader);
  if (ways === undefined) return "must have no look-around and no back-reference";
  return ways > mostWays
    ? "can be matched in too many ways: repeat less, and repeat nothing that repeats"
    : undefined;
}

/** Whether the whole answer fits. Upper and lower case count. */
export function fitsPattern(source: string, answer: string): boolean {
  return answer.length <= mostMatched && new RegExp(`^(?:${source})$`, "u").test(answer);
}

/** A pattern that compiles with flag u, from left to right. There no brace or bracket stands for itself without a backslash. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** What stands here, if it is this; and passes it. */
  take(what: RegExp): string | undefined {
    what.lastIndex = this.#at;
    const [found] = what.exec(this.#source) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }
}

/** `a|b`: the ways of the one and of the other. Undefined where something can't be counted. */
function waysOfChoice(reader: Reader): number | undefined {
  let sum: number | undefined = 0;
  do {
    const ways = waysOfSequence(reader);
    sum = sum === undefined || ways === undefined ? undefined : sum + ways;
  } while (sum !== undefined && reader.take(/\|/y) !== undefined);
  return sum;
}

/** `ab`: each way of the one goes on in each of the other. */
function waysOfSequence(reader: Reader): number | undefined {
  let product = 1;
  for (;;) {
    const ways = waysOfPiece(reader);
    if (ways === "end") return product;
    if (ways === undefined) return undefined;
    const [least, most] = repeats(reader.take(/[*+?]|\{\d+(?:,\d*)?\}/y));
    reader.take(/\?/y);
    product *= waysOfRepeats(ways, least, most);
  }
}

/** One character, class, assertion or group. */
function waysOfPiece(reader: Reader): number | "end" | undefined {
  // `\1` and `\k` mean what was matched before.
  if (reader.take(/\\[1-9k]/y) !== undefined) return undefined;
  if (reader.take(/\\[pPu]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\\\]])*\]/y) !== undefined) return 1;
  if (reader.take(/\(\?<?[=!]/y) !== undefined) return undefined;
  if (reader.take(/\((?:\?(?:<[^>]*>|[a-z-]*:))?/y) !== undefined) {
    const ways = waysOfChoice(reader);
    reader.take(/\)/y);
    return ways;
  }
  return reader.take(/[^|)]/uy) === undefined ? "end" : 1;
}

/** At least and at most so often; more than an answer has characters comes to nothing. */
function repeats(quantifier: string | undefined): readonly [number, number] {
  switch (quantifier) {
    case undefined:
      return [1, 1];
    case "?":
      return [0, 1];
    case "*":
      return [0, mostMatched];
    case "+":
      return [1, mostMatched];
    default: {
      const [, from = "", comma, to = ""] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
      return [
        Number(from),
        comma === "" ? Number(from) : to === "" ? Number(from) + mostMatched : Number(to),
      ];
    }
  }
}

/** The ways of each number of repeats together: how often, and each time in which way. */
function waysOfRepeats(ways: number, least: number, most: number): number {
  if (ways === 1) return most - least + 1;
  let sum = 0;
  for (let times = least; times <= most && sum <= mostWays; times++) sum += ways ** times;
  return sum;
}
