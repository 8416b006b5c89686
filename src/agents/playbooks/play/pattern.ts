/**
 * Patterns of slots: regular expressions of the host application that are matched against text from
 * strangers. JavaScript's matcher backtracks, and some patterns take exponential time. So the
 * number of ways to match is counted before a pattern is accepted. This rejects every dangerous
 * pattern, and also some harmless ones.
 */

/** Maximum characters of an answer that can match a pattern. */
const maxMatched = 100;
/**
 * Maximum ways to match. Three `+` over the longest answer have a million and take some
 * milliseconds. The worst accepted patterns take a tenth of a second.
 */
const maxWays = 1_100_000;

/** Returns why a pattern is rejected; undefined if it is accepted. */
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
  return ways > maxWays
    ? "has too many ways to match: use fewer repeats, and do not nest them"
    : undefined;
}

/** Whether the whole answer matches. Case matters. */
export function fitsPattern(source: string, answer: string): boolean {
  return answer.length <= maxMatched && new RegExp(`^(?:${source})$`, "u").test(answer);
}

/**
 * Reads a pattern from left to right. The pattern compiles with flag u, so every literal brace or
 * bracket has a backslash.
 */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Consumes and returns the text at the current position if it matches. */
  take(what: RegExp): string | undefined {
    what.lastIndex = this.#at;
    const [found] = what.exec(this.#source) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }
}

/** `a|b`: the sum of the ways of both. Undefined if something cannot be counted. */
function waysOfChoice(reader: Reader): number | undefined {
  let sum: number | undefined = 0;
  do {
    const ways = waysOfSequence(reader);
    sum = sum === undefined || ways === undefined ? undefined : sum + ways;
  } while (sum !== undefined && reader.take(/\|/y) !== undefined);
  return sum;
}

/** `ab`: the product of the ways of both. */
function waysOfSequence(reader: Reader): number | undefined {
  let product = 1;
  for (;;) {
    const ways = waysOfPiece(reader);
    if (ways === "end") return product;
    if (ways === undefined) return undefined;
    const [least, most] = repeats(reader.take(/[*+?]|\{\d+(?:,\d*)?\}/y));
    // A lazy quantifier matches in as many ways as a greedy one.
    reader.take(/\?/y);
    product *= waysOfRepeats(ways, least, most);
  }
}

/** One character, class, assertion or group. */
function waysOfPiece(reader: Reader): number | "end" | undefined {
  // `\1` and `\k` are back-references.
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

/**
 * Returns the minimum and maximum repeats. An open maximum counts as the minimum and the length of
 * the longest answer.
 */
function repeats(quantifier: string | undefined): readonly [number, number] {
  switch (quantifier) {
    case undefined:
      return [1, 1];
    case "?":
      return [0, 1];
    case "*":
      return [0, maxMatched];
    case "+":
      return [1, maxMatched];
    default: {
      const [, from = "", comma, to = ""] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
      return [
        Number(from),
        comma === "" ? Number(from) : to === "" ? Number(from) + maxMatched : Number(to),
      ];
    }
  }
}

/** Sums the ways over each possible number of repeats. */
function waysOfRepeats(ways: number, least: number, most: number): number {
  if (ways === 1) return most - least + 1;
  let sum = 0;
  for (let times = least; times <= most && sum <= maxWays; times++) sum += ways ** times;
  return sum;
}
