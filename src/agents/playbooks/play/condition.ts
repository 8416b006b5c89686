/**
 * The language of `when`: `==`, `!=`, `<`, `<=`, `>`, `>=` and `contains` between names and
 * literals, with `and`, `or`, `not` and parentheses. Names are slots, `step.field` and
 * `contact.name`. A name without a value is null.
 */
import type { Json } from "../../../ports/index.ts";
import { foldText } from "../../../kernel/index.ts";
import type { LookUp } from "./template.ts";

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
      throw new ParseError(start, `has an unknown token "${unknown.slice(0, 10)}"`);
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
    return new ParseError(
      at,
      `expects ${expected} ${kind === "end" ? "at its end" : `before "${text.slice(0, 20)}"`}`,
    );
  }
}

const reserved: ReadonlySet<string> = new Set(["and", "or", "not", "contains"]);

type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains";

export type Condition =
  | { readonly is: "value"; readonly value: string | number | boolean | null }
  | { readonly is: "name"; readonly name: string }
  | { readonly is: "not"; readonly of: Condition }
  | { readonly is: "and" | "or"; readonly all: readonly Condition[] }
  | { readonly is: Comparison; readonly left: Condition; readonly right: Condition };

/** Returns the names that a condition reads. */
export function namesOf(condition: Condition): string[] {
  switch (condition.is) {
    case "value":
      return [];
    case "name":
      return [condition.name];
    case "not":
      return namesOf(condition.of);
    case "and":
    case "or":
      return condition.all.flatMap(namesOf);
    default:
      return [...namesOf(condition.left), ...namesOf(condition.right)];
  }
}

/**
 * Whether a condition is true. A value by itself, also as an operand of `and`, `or` and `not`, is
 * false if it is false, null, 0, an empty text or an empty list. Any other value is true, also an
 * empty object.
 */
export function holds(condition: Condition, lookUp: LookUp): boolean {
  const value = valueOf(condition, lookUp);
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function valueOf(condition: Condition, lookUp: LookUp): Json {
  switch (condition.is) {
    case "value":
      return condition.value;
    case "name":
      return lookUp(condition.name) ?? null;
    case "not":
      return !holds(condition.of, lookUp);
    case "and":
      return condition.all.every((each) => holds(each, lookUp));
    case "or":
      return condition.all.some((each) => holds(each, lookUp));
    default:
      return compares(
        condition.is,
        valueOf(condition.left, lookUp),
        valueOf(condition.right, lookUp),
      );
  }
}

/**
 * Compares two values. `==` and `!=` mind the case of texts. Values of different types are never
 * equal, and every order comparison of them is false. Texts are ordered by character codes, so the
 * values of date slots, such as `2026-12-01`, are ordered by time. `contains` is true if a list has
 * an item equal to the value, or if a text includes the other text, regardless of case and accents.
 */
function compares(how: Comparison, left: Json, right: Json): boolean {
  switch (how) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "contains":
      if (Array.isArray(left)) return left.some((item: Json) => isEqual(item, right));
      return (
        typeof left === "string" &&
        typeof right === "string" &&
        foldText(left).includes(foldText(right))
      );
    default:
      return inOrder(how, left, right);
  }
}

/** Lists and objects are never equal. */
function isEqual(left: Json, right: Json): boolean {
  return left === right && (left === null || typeof left !== "object");
}

function inOrder(how: "<" | "<=" | ">" | ">=", left: Json, right: Json): boolean {
  const areNumbers = typeof left === "number" && typeof right === "number";
  const areTexts = typeof left === "string" && typeof right === "string";
  if (!areNumbers && !areTexts) return false;
  switch (how) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}
