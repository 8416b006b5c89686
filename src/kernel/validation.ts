/** Validation of inputs, and of the options that the host application passes in process. */
import * as z from "zod";
import { type FieldError, type FieldPlace, invalid, TidingsError } from "./errors.ts";
import {
  alternatives,
  describe,
  hasMethods,
  memberOf,
  quoted,
  show,
  suggestion,
} from "./describe.ts";
import { nearestName } from "./text.ts";

/** Converts a path into the parsed input to the place where the caller sent the field. */
export type Place = (path: readonly PropertyKey[]) => FieldPlace;

/** How many errors a response has at most. */
export const maxErrors = 100;

/** Where an input comes from. */
interface Origin {
  /** Returns the place of a field. By default, the input is the body. */
  readonly place?: Place;
  /** The names of the options that are the last argument of the method, not part of its input. */
  readonly options?: readonly string[];
}

/** Returns an error for each invalid field, at most 100. */
function fieldErrors(issues: readonly z.core.$ZodIssue[], origin: Origin): FieldError[] {
  return issues.flatMap((issue) => flatten(issue, origin, [])).slice(0, maxErrors);
}

/**
 * Parses a value by a schema. `errors` are errors that the caller already found.
 * @throws TidingsError `validation_failed`, with every error
 */
export function parse<Input>(
  schema: z.ZodType<Input>,
  value: unknown,
  { errors = [], ...origin }: Origin & { readonly errors?: readonly FieldError[] } = {},
): Input {
  const result = schema.safeParse(value, { reportInput: true, error: sentence });
  if (!result.success) {
    // Each wrong entry of a map is an issue, so there can be very many.
    const issues = result.error.issues.slice(0, 2 * maxErrors);
    throw invalid([...errors, ...fieldErrors(strictest(issues), origin)]);
  }
  if (errors.length > 0) throw invalid(errors);
  return result.data;
}

/** A JSON pointer (RFC 6901) into the body. */
export const inBody: Place = (path) => ({
  pointer: path
    .map((segment) => `/${brief(String(segment)).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join(""),
});

export const inQuery: Place = ([name = "", ..._within]) => ({ parameter: brief(String(name)) });

export const unknownField = (
  place: FieldPlace,
  name: string,
  advice = ". Remove it.",
): FieldError => ({
  ...place,
  code: "unknown_field",
  message: `Unknown ${"parameter" in place ? "parameter" : "field"} "${brief(name)}"${advice}`,
});

/** Shortens a name that the caller chose, before an error repeats it. */
const brief = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

function flatten(
  issue: z.core.$ZodIssue,
  origin: Origin,
  above: readonly PropertyKey[],
): FieldError[] {
  const { place = inBody, options = [] } = origin;
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const known = knownFields(issue.message);
    return issue.keys.slice(0, maxErrors).map((key) => {
      const where = place([...path, key]);
      const isParameter = "parameter" in where;
      const beside = known.filter((each) => "parameter" in place([...path, each]) === isParameter);
      return unknownField(where, key, instead(key, beside, path.length === 0 ? options : []));
    });
  }
  if (issue.code === "invalid_union") {
    const nearest = furthest(issue.errors);
    if (nearest !== undefined) return nearest.flatMap((each) => flatten(each, origin, path));
  }
  return [{ ...place(path), ...explain(issue) }];
}

/** Says what to send in place of an unknown field. */
function instead(
  name: string,
  known: readonly string[],
  options: readonly string[],
): string | undefined {
  const nearest = nearestName(name, [...known, ...options]);
  if (nearest === undefined) return undefined;
  return known.includes(nearest)
    ? `. Did you mean ${quoted(nearest)}?`
    : `. Pass { ${nearest} } as the last argument.`;
}

/**
 * Leaves out limits of a number that a stricter one of the same field implies. The schema of an
 * integer has the limits of safe integers besides its own.
 */
function strictest(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  return issues.filter((issue) => {
    const limit = limitOf(issue);
    const isStricter = (other: z.core.$ZodIssue): boolean =>
      other.code === issue.code &&
      limitOf(other) < limit &&
      z.core.toDotPath(other.path) === z.core.toDotPath(issue.path);
    return !issues.some(isStricter);
  });
}

/** The lower this number, the stricter the limit. */
function limitOf(issue: z.core.$ZodIssue): number {
  if (issue.code === "too_big") return Number(issue.maximum);
  return issue.code === "too_small" ? -Number(issue.minimum) : Infinity;
}

/**
 * Returns the errors of the union branch in which parsing got furthest. That is most likely the
 * branch that the caller meant.
 */
function furthest(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const depth = (issues: readonly z.core.$ZodIssue[]): number =>
    Math.min(
      ...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)),
    );
  const [best] = branches
    .filter((issues) => issues.length > 0 && depth(issues) > 0)
    .toSorted((a, b) => depth(b) - depth(a));
  return best;
}

function explain(issue: z.core.$ZodIssue): { code: string; message: string } {
  const { message } = issue;
  if (issue.code === "custom") {
    const code: unknown = issue.params?.["code"];
    return { code: typeof code === "string" ? code : "invalid", message };
  }
  return given(issue) === undefined
    ? { code: "required", message: "Required." }
    : { code: issue.code, message };
}

/**
 * Returns the wrong value. It is known because `parse` sets `reportInput`. If the value that
 * decides between the forms of an object is wrong, the issue has the object.
 */
function given(issue: z.core.$ZodIssue | z.core.$ZodRawIssue): unknown {
  return issue.code === "invalid_union" && typeof issue.discriminator === "string"
    ? memberOf(issue.input, issue.discriminator)
    : issue.input;
}

/** Describes a problem of a field whose schema has no description of its own. */
function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}, got ${received(issue)}`;
    case "invalid_value":
      return oneOf(issue.values, issue.input);
    case "too_small":
      return atLeast(issue);
    case "too_big":
      return atMost(issue);
    case "invalid_format":
      return issue.format === "regex"
        ? `must match the pattern ${issue.pattern}`
        : `must have the format "${issue.format}"`;
    case "invalid_union":
      return Array.isArray(issue.options)
        ? oneOf(issue.options, given(issue))
        : "has none of the allowed forms";
    case "invalid_key":
      return issue.issues.map(({ message }) => `the key ${message}`).join(" and ");
    case "unrecognized_keys":
      return issue.inst instanceof z.ZodObject ? listOfFields(issue.inst.shape) : undefined;
    default:
      return undefined;
  }
}

/** A string in place of a number or boolean is hardly a secret. A query has only strings. */
function received({ expected, input }: { expected: string; input?: unknown }): string {
  return ["number", "int", "boolean"].includes(expected) ? show(input) : describe(input);
}

function oneOf(values: readonly unknown[], input: unknown): string {
  const isSuggested = values.length > 1 && typeof input === "string";
  const advice = isSuggested ? suggestion(input, values.map(String)) : "";
  return `must be ${alternatives(values)}, got ${show(input)}${advice}`;
}

/** The message of an issue about unknown fields: it lists the known ones. */
function listOfFields(shape: z.core.$ZodShape): string {
  return Object.keys(shape).join(", ");
}

/** Returns the names that `listOfFields` has listed. None if the message is another one. */
function knownFields(message: string): string[] {
  return message.includes(":") ? [] : message.split(", ");
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

type TooSmall = Pick<z.core.$ZodIssueTooSmall, "origin" | "minimum" | "inclusive" | "exact">;
type TooBig = Pick<z.core.$ZodIssueTooBig, "origin" | "maximum" | "inclusive" | "exact">;

/** What the size of a value counts. The size of a number is the number itself. */
const units: Readonly<Record<string, string>> = { string: "character", array: "item" };

function atLeast({ origin, minimum, inclusive, exact }: TooSmall): string {
  const unit = units[origin];
  if (unit !== undefined) {
    return `must have ${exact === true ? "exactly" : "at least"} ${counted(minimum, unit)}`;
  }
  return inclusive === false ? `must be more than ${minimum}` : `must be ${minimum} or more`;
}

function atMost({ origin, maximum, inclusive, exact }: TooBig): string {
  const unit = units[origin];
  if (unit !== undefined) {
    return `must have ${exact === true ? "exactly" : "at most"} ${counted(maximum, unit)}`;
  }
  return inclusive === false ? `must be less than ${maximum}` : `must be ${maximum} or less`;
}

function counted(count: number | bigint, unit: string): string {
  return `${count} ${unit}${Number(count) === 1 ? "" : "s"}`;
}

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
  return option<T>(expected, (given) => hasMethods(given, ...methods));
}

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
  { isQuoted: true },
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
 * Checks options. `subject` names the function that takes them.
 * @throws TidingsError `invalid_option` with the name, the expected value and a description of the
 *   given value of each wrong option
 */
export function parseOptions<T>(subject: string, schema: z.ZodType<T>, given: unknown): T {
  // Options are checked once for each engine, and compiling a fast parser takes longer than that.
  const parsed = schema.safeParse(given, { reportInput: true, jitless: true });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap(problemsOf);
  const text = problems.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`);
  throw new TidingsError("invalid_option", `${subject}${text.join("; ")}`, {
    errors: problems.map(({ path, ...error }) => ({ ...inBody(path), ...error })),
  });
}

/**
 * Refuses arguments of a function that takes none, such as options of another function.
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
