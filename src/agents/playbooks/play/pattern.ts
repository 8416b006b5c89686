/**
 * Patterns of slots: regular expressions of the host application that are matched against text from
 * strangers. JavaScript's matcher backtracks, and some patterns take exponential time. So the
 * number of steps that a match may take is counted before a pattern is accepted. This rejects every
 * dangerous pattern, and also some harmless ones.
 */

/** Maximum characters of an answer that can match a pattern. */
const maxMatched = 100;
/**
 * Maximum steps of a match. Two `+` over the longest answer have ten thousand, and three a million.
 * The worst accepted patterns take some milliseconds. They may not take more, because a turn of a
 * playbook may set many slots.
 */
const maxSteps = 60_000;

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
  const cost = costOfChoice(reader);
  if (cost === undefined) return "must have no look-around and no back-reference";
  return cost.steps > maxSteps
    ? "has too many ways to match: use fewer repeats, limit them as in {1,9}, and do not nest them"
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

/** The maximum cost of matching a part of a pattern at one place of a text. */
interface Cost {
  /** In how many ways the part can match. After each, the rest of the pattern is tried. */
  readonly ways: number;
  /** How many steps it takes to try all of them. */
  readonly steps: number;
}

const one: Cost = { ways: 1, steps: 1 };

/** `a|b`: the sum of both. Undefined if something cannot be counted. */
function costOfChoice(reader: Reader): Cost | undefined {
  let [ways, steps] = [0, 0];
  do {
    const cost = costOfSequence(reader);
    if (cost === undefined) return undefined;
    ways += cost.ways;
    steps += 1 + cost.steps;
  } while (reader.take(/\|/y) !== undefined);
  return { ways, steps };
}

/** `ab`: each way of `a` is followed by all steps of `b`. */
function costOfSequence(reader: Reader): Cost | undefined {
  let [ways, steps] = [1, 0];
  for (;;) {
    const piece = costOfPiece(reader);
    if (piece === "end") return { ways, steps };
    if (piece === undefined) return undefined;
    const [least, most] = repeats(reader.take(/[*+?]|\{\d+(?:,\d*)?\}/y));
    // A lazy quantifier matches in as many ways as a greedy one.
    reader.take(/\?/y);
    const cost = costOfRepeats(piece, least, most);
    steps += ways * cost.steps;
    ways *= cost.ways;
  }
}

/** One character, class, assertion or group. */
function costOfPiece(reader: Reader): Cost | "end" | undefined {
  // `\1` and `\k` are back-references.
  if (reader.take(/\\[1-9k]/y) !== undefined) return undefined;
  if (reader.take(/\\[pPu]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\\\]])*\]/y) !== undefined) return one;
  if (reader.take(/\(\?<?[=!]/y) !== undefined) return undefined;
  if (reader.take(/\((?:\?(?:<[^>]*>|[a-z-]*:))?/y) !== undefined) {
    const cost = costOfChoice(reader);
    reader.take(/\)/y);
    return cost;
  }
  return reader.take(/[^|)]/uy) === undefined ? "end" : one;
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

/** Sums the cost over each possible number of repeats. Stops when it is too much. */
function costOfRepeats(each: Cost, least: number, most: number): Cost {
  let [ways, steps] = [least === 0 ? 1 : 0, 0];
  let reached = 1;
  for (let times = 1; times <= most && steps <= maxSteps; times++) {
    steps += reached * each.steps;
    reached *= each.ways;
    if (times >= least) ways += reached;
  }
  return { ways, steps };
}
