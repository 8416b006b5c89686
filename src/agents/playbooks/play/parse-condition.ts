/** Parses the conditions of `when`. `condition.ts` describes their language. */
import { firstCharacters } from "../../../kernel/index.ts";
import type { Comparison, Condition } from "./condition.ts";

/** What is wrong, and at which character, counted from 0. */
interface ConditionProblem {
  readonly at: number;
  readonly message: string;
}

const maxLength = 500;
const maxDepth = 20;

const kinds = [
  /(?<op>==|!=|<=|>=|<|>|\(|\))/,
  /(?<number>-?\d{1,15}(?:\.\d{1,15})?(?![\w.]))/,
  /(?<string>"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*')/,
  /(?<word>[A-Za-z][\w-]*(?:\.[A-Za-z_][\w-]*)?)/,
];
const token = new RegExp(`\\s*(?:${kinds.map(({ source }) => source).join("|")})`, "y");

interface Token {
  readonly at: number;
  readonly kind: "op" | "number" | "string" | "word" | "end";
  readonly text: string;
}

export function parseCondition(source: string): Condition | { readonly problem: ConditionProblem } {
  if (source.length > maxLength) {
    return { problem: { at: maxLength, message: `must have at most ${maxLength} characters` } };
  }
  try {
    const parser = new Parser(tokensOf(source));
    const condition = parser.either(0);
    parser.end();
    return condition;
  } catch (error) {
    if (error instanceof ParseError) return { problem: { at: error.at, message: error.message } };
    throw error;
  }
}

class ParseError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** The first symbols, or the first word, of what is no token. */
const unknownToken = /^(?:[^\s\w"'()]+|[^\s"'()]+)/u;

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const end = source.trimEnd().length;
  for (let at = 0; at < end;) {
    token.lastIndex = at;
    const found = token.exec(source);
    const start = at + (/^\s*/.exec(source.slice(at))?.[0].length ?? 0);
    if (found === null) {
      const unknown = unknownToken.exec(source.slice(start))?.[0] ?? source.charAt(start);
      throw new ParseError(start, `has an unknown token "${firstCharacters(unknown, 10)}"`);
    }
    const [kind, text] = kindOf(found.groups ?? {});
    tokens.push({ at: start, kind, text });
    at = token.lastIndex;
  }
  return [...tokens, { at: end, kind: "end", text: "" }];
}

function kindOf(groups: Readonly<Record<string, string | undefined>>): [Token["kind"], string] {
  for (const kind of ["op", "number", "string", "word"] as const) {
    const text = groups[kind];
    if (text !== undefined) return [kind, text];
  }
  throw new TypeError("a token has no kind");
}

const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "contains"]);
const reserved: ReadonlySet<string> = new Set(["and", "or", "not", "contains"]);
const constants: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/**
 * A recursive descent parser. From weakest to strongest binding: `or`, `and`, `not`, comparisons.
 */
class Parser {
  readonly #tokens: readonly Token[];
  #place = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Parses a whole condition, or the inside of parentheses. */
  either(depth: number): Condition {
    return this.#chain("or", () => this.#chain("and", () => this.#negation(depth)));
  }

  end(): void {
    if (this.#next.kind !== "end") throw this.#unexpected('"and", "or" or the end');
  }

  get #next(): Token {
    return this.#tokens[this.#place] ?? { at: 0, kind: "end", text: "" };
  }

  #take(text: string): boolean {
    const { kind, text: next } = this.#next;
    const isIt = (kind === "op" || kind === "word") && next === text;
    if (isIt) this.#place++;
    return isIt;
  }

  #chain(is: "and" | "or", part: () => Condition): Condition {
    const first = part();
    const others: Condition[] = [];
    while (this.#take(is)) others.push(part());
    return others.length === 0 ? first : { is, all: [first, ...others] };
  }

  #negation(depth: number): Condition {
    if (depth > maxDepth) {
      throw new ParseError(this.#next.at, `is nested deeper than ${maxDepth} levels`);
    }
    return this.#take("not")
      ? { is: "not", of: this.#negation(depth + 1) }
      : this.#comparison(depth);
  }

  #comparison(depth: number): Condition {
    const left = this.#operand(depth);
    const { kind, text } = this.#next;
    if ((kind !== "op" && kind !== "word") || !comparisons.has(text)) return left;
    this.#place++;
    return { is: text as Comparison, left, right: this.#operand(depth) };
  }

  #operand(depth: number): Condition {
    if (this.#take("(")) {
      const inner = this.either(depth + 1);
      if (!this.#take(")")) throw this.#unexpected("a closing parenthesis");
      return inner;
    }
    const { kind, text } = this.#next;
    if (kind === "number") return this.#took({ is: "value", value: Number(text) });
    if (kind === "string") {
      return this.#took({ is: "value", value: text.slice(1, -1).replace(/\\([^])/g, "$1") });
    }
    if (kind !== "word" || reserved.has(text)) {
      throw this.#unexpected("a name, a number or a text in quotes");
    }
    const constant = constants.get(text);
    return this.#took(
      constant === undefined ? { is: "name", name: text } : { is: "value", value: constant },
    );
  }

  #took(condition: Condition): Condition {
    this.#place++;
    return condition;
  }

  #unexpected(expected: string): ParseError {
    const { at, kind, text } = this.#next;
    const place = kind === "end" ? "at its end" : `before "${firstCharacters(text, 20)}"`;
    return new ParseError(at, `expects ${expected} ${place}`);
  }
}
