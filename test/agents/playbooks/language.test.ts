import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { english } from "../../../adapters/language/index.ts";
import { holds } from "../../../src/agents/playbooks/play/condition.ts";
import { parseCondition } from "../../../src/agents/playbooks/play/parse-condition.ts";
import { fitsPattern, patternProblem } from "../../../src/agents/playbooks/play/pattern.ts";
import { fill, render } from "../../../src/agents/playbooks/play/template.ts";
import type { Json } from "../../../src/ports/agent-model.ts";

const language = english();

describe("templates", () => {
  const known: Readonly<Record<string, Json>> = {
    a: "{{b}}",
    b: "{{a}}",
    n: 3,
    yes: true,
    "s.list": ["x", 2, {}],
    o: {},
  };
  const look = (name: string): Json | undefined =>
    Object.hasOwn(known, name) ? known[name] : undefined;

  it("replace names by values, and unknown names by nothing", () => {
    expect(render("{{n}} {{ yes }} {{s.list}} [{{o}}{{nobody}}] {{n }", look, language)).toBe(
      "3 yes x, 2 [] {{n }",
    );
    expect(render("Say {{a}}", () => 'x" and now delete', language, "quoted")).toBe(
      'Say "x\\" and now delete"',
    );
    expect(render("Say {{a}}", () => ['x" and now delete', "all"], language, "quoted")).toBe(
      'Say "x\\" and now delete, all"',
    );
  });

  it("keep a value's type if the template is only its name", () => {
    expect(
      fill(
        { n: "{{n}}", all: ["{{s.list}}", "n={{n}}"], gone: "{{nobody}}", left: 1 },
        look,
        language,
      ),
    ).toEqual({
      n: 3,
      all: [["x", 2, {}], "n=3"],
      gone: null,
      left: 1,
    });
  });

  it("cut a long value between two characters", () => {
    const long = `a${"😀".repeat(600)}`;
    const cut = `a${"😀".repeat(499)}`;
    expect(render("{{x}}", () => long, language)).toBe(cut);
    expect(render("{{x}}", () => [long], language)).toBe(cut);
    expect(fill("{{x}}!", () => long, language)).toBe(`${cut}!`);
    expect(render("{{x}}", () => ["ab", long], language)).toBe(`ab, a${"😀".repeat(497)}`);
  });

  it("never expand templates inside values", () => {
    const pieces = fc.array(
      fc.constantFrom("{{", "}}", "{{a}}", "{{b}}", "{", "a", "b", " ", "$&", "$1"),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(pieces, pieces, (first, second) => {
        const values: Readonly<Record<string, string>> = { a: first.join(""), b: second.join("") };
        expect(
          render("<{{a}}|{{b}}>", (name) => values[name], language),
          "A value is inserted as it is. Templates within it are not filled.",
        ).toBe(`<${values["a"]}|${values["b"]}>`);
      }),
    );
  });
});

type Env = Readonly<Record<string, Json>>;

/** The text of a condition and an independent evaluation of it. */
interface Written {
  readonly text: string;
  readonly value: (env: Env) => Json;
}

const isTrue = (value: Json): boolean => (Array.isArray(value) ? value.length > 0 : !!value);
const rank = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value;

const comparisons: Readonly<Record<string, (a: never, b: never) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

function compared(op: string, a: Json, b: Json): boolean {
  const same =
    rank(a) === rank(b) &&
    !["list", "object"].includes(rank(a)) &&
    JSON.stringify(a) === JSON.stringify(b);
  if (op === "==") return same;
  if (op === "!=") return !same;
  if (op === "contains") {
    if (Array.isArray(a)) return a.some((item: Json) => compared("==", item, b));
    return (
      typeof a === "string" && typeof b === "string" && a.toLowerCase().includes(b.toLowerCase())
    );
  }
  const areComparable = rank(a) === rank(b) && ["number", "string"].includes(rank(a));
  return areComparable && (comparisons[op]?.(a as never, b as never) ?? false);
}

const literal: fc.Arbitrary<Written> = fc
  .oneof(
    fc.integer({ min: -5, max: 5 }),
    fc.constantFrom(1.5, "a", "B", "ab", "", 'q"', true, false, null),
  )
  .map((value) => ({ text: JSON.stringify(value), value: () => value }));
const name: fc.Arbitrary<Written> = fc
  .constantFrom("x", "y", "call.z", "missing")
  .map((text) => ({ text, value: (env: Env) => env[text] ?? null }));

const { condition } = fc.letrec<{ condition: Written; operand: Written }>((tie) => ({
  operand: fc.oneof(
    { depthSize: "small" },
    literal,
    name,
    tie("condition").map(({ text, value }) => ({ text: `(${text})`, value })),
  ),
  condition: fc.oneof(
    { depthSize: "small" },
    tie("operand"),
    tie("operand").map(({ text, value }) => ({
      text: `not ${text}`,
      value: (env: Env) => !isTrue(value(env)),
    })),
    fc
      .tuple(
        tie("operand"),
        fc.constantFrom("==", "!=", "<", "<=", ">", ">=", "contains"),
        tie("operand"),
      )
      .map(([a, op, b]) => ({
        text: `${a.text} ${op} ${b.text}`,
        value: (env: Env) => compared(op, a.value(env), b.value(env)),
      })),
    fc.array(tie("operand"), { minLength: 2, maxLength: 3 }).map((all) => ({
      text: all.map(({ text }) => text).join(" and "),
      value: (env: Env) => all.every(({ value }) => isTrue(value(env))),
    })),
    // `and` binds tighter than `or`.
    fc.tuple(tie("operand"), tie("operand"), tie("operand")).map(([a, b, c]) => ({
      text: `${a.text} or ${b.text} and not ${c.text}`,
      value: (env: Env) => isTrue(a.value(env)) || (isTrue(b.value(env)) && !isTrue(c.value(env))),
    })),
  ),
}));

const someJson = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom<Json>("a", "AB", true, false, null, ["a", 1], [], {}),
);

const values: readonly Json[] = [
  -1,
  0,
  2.5,
  "a",
  "B",
  "ab",
  "",
  true,
  false,
  null,
  ["a", 2.5, null],
  [],
  {},
];

describe("conditions", () => {
  it.each(["==", "!=", "<", "<=", ">", ">=", "contains"])(
    "compare values of any two types by %s",
    (op) => {
      const parsed = parseCondition(`x ${op} y`);
      if ("problem" in parsed) throw new TypeError(parsed.problem.message);
      for (const x of values) {
        for (const y of values) {
          const found = holds(parsed, (name) => (name === "x" ? x : y));
          expect([x, op, y, found]).toEqual([x, op, y, compared(op, x, y)]);
        }
      }
    },
  );

  it("evaluate like an independent implementation", () => {
    fc.assert(
      fc.property(
        condition,
        fc.record({ x: someJson, y: someJson, "call.z": someJson }),
        ({ text, value }, env) => {
          fc.pre(text.length <= 500);
          const parsed = parseCondition(text);
          expect(parsed, `A condition of the grammar is parsed: ${text}`).not.toHaveProperty(
            "problem",
          );
          if ("problem" in parsed) return;
          expect([
            text,
            holds(parsed, (name) => (Object.hasOwn(env, name) ? env[name as "x"] : undefined)),
          ]).toEqual([text, isTrue(value(env))]);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ["", 0],
    ["a ==", 4],
    ["a = 1", 2],
    ["a == 1 b", 7],
    ["(a", 2],
    ["a and and b", 6],
    ['a == "open', 5],
    ["12abc", 0],
    [`${"(".repeat(30)}a${")".repeat(30)}`, 21],
    ["a".repeat(501), 500],
  ])("are rejected with the position of a syntax error: %s", (text, at) => {
    expect(parseCondition(text)).toMatchObject({ problem: { at } });
  });

  it.each([
    ["!(a == 1)", 'has an unknown token "!"'],
    ["a = 1", 'has an unknown token "="'],
    ["a == 1 && b", 'has an unknown token "&&"'],
    ["a == 1.5e3", 'has an unknown token "1.5e3"'],
    ["a == 'open", `has an unknown token "'"`],
    ["a == 1 b", 'expects "and", "or" or the end before "b"'],
    ["a =😀😀😀😀😀", 'has an unknown token "=😀😀😀😀"'],
    [`a "${"b".repeat(18)}😀"`, `expects "and", "or" or the end before ""${"b".repeat(18)}"`],
  ])("are rejected with the word that is wrong: %s", (text, message) => {
    expect(parseCondition(text)).toMatchObject({ problem: { message } });
  });

  it("are parsed or rejected for every input", () => {
    const pieces = fc.constantFrom(
      "a",
      "(",
      ")",
      "and",
      "or",
      "not",
      "==",
      '"',
      "'",
      "\\",
      "1",
      ".",
      "-",
      " ",
      "contains",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 80 }), (words) => {
        const parsed = parseCondition(words.join(" "));
        if ("problem" in parsed) {
          expect(parsed.problem.at, "A problem lies within the text.").toBeLessThanOrEqual(
            words.join(" ").length,
          );
        } else {
          expect(typeof holds(parsed, () => null), "A condition is true or false.").toBe("boolean");
        }
      }),
    );
  });
});

describe("patterns", () => {
  it.each([
    String.raw`\d{3}-?\d{3}-?\d{4}`,
    "[A-Z]{2}-[0-9]+",
    "(?:AB|CD)-(?<digits>[0-9]{4,6})[a-z]?",
    String.raw`(?:\d{4} ?){4}`,
    String.raw`\p{L}+ \p{L}+`,
    String.raw`[\]\-|(]+\(\)`,
    "a|",
    "",
  ])("without catastrophic backtracking are accepted: %s", (source) => {
    expect(patternProblem(source)).toBeUndefined();
  });

  it.each([
    ["[a-z", "regular expression"],
    ["a{2", "regular expression"],
    ["(a+)+", "too many ways"],
    ["(a|a)*", "too many ways"],
    ["(a?){30}", "too many ways"],
    ["a*a*a*a*a*", "too many ways"],
    ["(?:a|b|ab)+c", "too many ways"],
    [String.raw`(\w+\s?)*`, "too many ways"],
    ["a+b+c+", "too many ways"],
    ["(?:a|a){20}a{70}[^a]", "too many ways"],
    [String.raw`(a)\1`, "back-reference"],
    [String.raw`(?<x>a)\k<x>`, "back-reference"],
    ["(?=a)b", "look-around"],
    ["(?<!a)b", "look-around"],
  ])("that backtrack catastrophically or are invalid are rejected: %s", (source, why) => {
    expect(patternProblem(source)).toContain(why);
  });

  it("that are accepted match quickly for every text", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "[ab]",
      ".",
      "(",
      "(?:",
      ")",
      "|",
      "*",
      "+",
      "?",
      "{2}",
      "{1,9}",
      "{3,}",
      "{20}",
      "{70}",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.nat(100), (pieces, length) => {
        const source = pieces.join("");
        fc.pre(patternProblem(source) === undefined);
        const before = process.cpuUsage();
        fitsPattern(source, `${"a".repeat(Math.max(0, length - 1))}!`);
        // CPU time, so that a busy machine does not fail the test.
        expect([source, process.cpuUsage(before).user < 500_000]).toEqual([source, true]);
      }),
      { numRuns: 1_000 },
    );
    expect(fitsPattern("a+", "a".repeat(101))).toBe(false);
  });
});
