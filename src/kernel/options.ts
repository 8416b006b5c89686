/** Validation of the options that the host application passes in process. */
import * as z from "zod";
import { describe, hasMethods, quoted, show, suggestion } from "./describe.ts";
import { TidingsError, type FieldError } from "./errors.ts";
import { inBody, knownFields, listOfFields } from "./validation.ts";

/** Checked options: all of them, with defaults for those that were left out or undefined. */
export type Checked<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};

/** How a problem shows a wrong option. By default it names only the type of the value. */
interface Report {
  /** The value cannot be a secret, so a problem quotes it. */
  readonly isQuoted?: boolean;
  /** Shown in place of the value. */
  readonly got?: string;
  /** Returns advice for a wrong value. */
  readonly advice?: (given: unknown) => string;
}

/** An option for which `holds` is true. `expected` completes the sentence "expected …". */
export function option<T>(
  expected: string,
  holds: (given: unknown) => boolean,
  report: Report = {},
): z.ZodCustom<T, T> {
  return z.custom<T>(holds, { error: expected, params: { ...report } });
}

/** An object with these methods, such as a port. */
export function portOption<T>(expected: string, ...methods: readonly string[]): z.ZodCustom<T, T> {
  return option<T>(expected, (given) => hasMethods(given, ...methods), {
    advice: (given) => (typeof given === "function" ? callAdvice : ""),
  });
}

/** The advice on a function such as `memory` in place of `memory()`. */
export const callAdvice = ". Call the function, and pass what it returns.";

export function choiceOption<T extends string>(...choices: readonly T[]): z.ZodCustom<T, T> {
  const holds = (given: unknown): boolean => choices.some((each) => each === given);
  return option<T>(choices.map(quoted).join(" or "), holds, { isQuoted: true });
}

/** A whole number within a range. */
export function wholeOption(min: number, max: number): z.ZodCustom<number, number> {
  return option<number>(
    `a whole number from ${min} to ${max}`,
    (given) => Number.isInteger(given) && Number(given) >= min && Number(given) <= max,
  );
}

export const booleanOption: z.ZodCustom<boolean, boolean> = option<boolean>(
  "true or false",
  (given) => typeof given === "boolean",
);

/** An origin as browsers send it: only scheme, host and port. It can stand in a header's list. */
export const originOption: z.ZodCustom<string, string> = option<string>(
  'an origin, such as "https://shop.example"',
  (given) =>
    typeof given === "string" &&
    !/[,;]/.test(given) &&
    URL.canParse(given) &&
    new URL(given).origin === given,
  {
    isQuoted: true,
    advice: (given) => {
      const origin = typeof given === "string" ? URL.parse(given)?.origin : undefined;
      return origin?.startsWith("http") === true ? `. Did you mean ${quoted(origin)}?` : "";
    },
  },
);

export function functionOption<T>(expected = "a function"): z.ZodCustom<T, T> {
  return option<T>(expected, (given) => typeof given === "function");
}

/** A list. `plural` names its items. */
export function listOption<T>(
  plural: string,
  item: z.ZodType<T, T>,
  max = Infinity,
): z.ZodArray<z.ZodType<T, T>> {
  const expected = max === Infinity ? `a list of ${plural}` : `a list of up to ${max} ${plural}`;
  const all = z.array(item, { error: expected });
  return max === Infinity ? all : all.max(max, { error: expected });
}

/** An object with these fields and no others. */
export function optionsObject<S extends z.ZodRawShape>(
  shape: S,
  expected = "an object",
): z.ZodObject<S, z.core.$strict> {
  return z.strictObject(shape, {
    error: ({ code }) => (code === "unrecognized_keys" ? listOfFields(shape) : expected),
  });
}

/**
 * Checks options. `prefix` begins the message: the function that takes them, and a colon.
 * @throws TidingsError `invalid_option` with the name, the expected value and a description of the
 *   given value of each wrong option
 */
export function parseOptions<T>(prefix: string, schema: z.ZodType<T>, given: unknown): T {
  // Options are checked once for each engine, and compiling a fast parser takes longer than that.
  const parsed = schema.safeParse(given, { reportInput: true, jitless: true });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  const text = problems.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`);
  throw new TidingsError("invalid_option", `${prefix}${text.join("; ")}`, {
    errors: problems.map(({ path, ...error }) => ({ ...inBody(path), ...error })),
  });
}

/**
 * Refuses arguments of a function that takes none, such as options of another function.
 * `subject` names it.
 * @throws TidingsError `invalid_option`
 */
export function refuseArguments(subject: string, given: readonly unknown[]): void {
  if (given.length === 0) return;
  const message = `${subject}: expected no arguments, got ${describe(given[0])}`;
  throw new TidingsError("invalid_option", message);
}

/** How many unknown options of one object an error names. */
const maxUnknownNamed = 5;

interface OptionProblem extends Pick<FieldError, "code" | "message"> {
  readonly path: readonly string[];
}

function problemsOf(issue: z.core.$ZodIssue): OptionProblem[] {
  const place = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const known = knownFields(issue.message);
    // An object of a library in place of options has many fields.
    const named = issue.keys.slice(0, maxUnknownNamed);
    const more = issue.keys.length - named.length;
    return named.map((key, i) => {
      const hint = suggestion(key, known);
      // The list can be long, so only the first problem has it.
      const list = `${hint === "" ? "." : ""} Known options: ${issue.message}`;
      const rest = more > 0 && i === named.length - 1 ? ` (and ${more} more)` : "";
      const message = `unknown option${hint}${i === 0 ? list : ""}${rest}`;
      return { path: [...place, key], code: "unknown_option", message };
    });
  }
  const { input } = issue;
  const { isQuoted, got, advice }: Report = issue.code === "custom" ? (issue.params ?? {}) : {};
  const shown = got ?? (isQuoted ? show(input) : describe(input));
  return [
    {
      path: place,
      code: input === undefined ? "required" : "invalid",
      message: `expected ${issue.message}, got ${shown}${advice?.(input) ?? ""}`,
    },
  ];
}
