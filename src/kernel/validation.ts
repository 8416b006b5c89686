/** Validation of inputs. */
import * as z from "zod";
import { alternatives, describe, memberOf, quoted, show, suggestion } from "./describe.ts";
import { invalid, type FieldError, type FieldPlace } from "./errors.ts";
import { nearestName } from "./text.ts";

/** Returns where the caller sent a field, from its path in the parsed input. */
export type Locate = (path: readonly PropertyKey[]) => FieldPlace;

/** The maximum number of errors of an input. */
export const maxErrors = 100;
/** The maximum number of errors of an item of a batch or an import: one response has many items. */
export const maxItemErrors = 20;

/** Where an input comes from. */
interface InputSource {
  /** Returns the place of a field. By default, the input is the body. */
  readonly locate?: Locate;
  /** The names of the options that are the last argument of the method, not part of its input. */
  readonly options?: readonly string[];
}

interface ParseOptions extends InputSource {
  /** Errors that the caller already found. */
  readonly errors?: readonly FieldError[];
  /** The maximum number of errors that are reported, with those. Default: `maxErrors`. */
  readonly limit?: number;
}

/**
 * Parses a value by a schema.
 * @throws TidingsError `validation_failed`, with every error up to the limit
 */
export function parse<Input>(
  schema: z.ZodType<Input>,
  value: unknown,
  { errors = [], limit = maxErrors, ...source }: ParseOptions = {},
): Input {
  const result = schema.safeParse(value, { reportInput: true, error: sentence });
  if (!result.success) {
    // Each wrong entry of a map is an issue, so there can be very many.
    const issues = result.error.issues.slice(0, 2 * limit);
    const found = strictest(issues).flatMap((issue) => errorsOf(issue, source));
    throw invalid([...errors, ...found].slice(0, limit));
  }
  if (errors.length > 0) throw invalid(errors.slice(0, limit));
  return result.data;
}

/** A JSON pointer (RFC 6901) into the body. */
export const inBody: Locate = (path) => ({
  pointer: path
    .map((segment) => `/${brief(String(segment)).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join(""),
});

export const inQuery: Locate = ([name = "", ..._within]) => ({ parameter: brief(String(name)) });

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

/** Returns the errors of an issue. `above` is the path of the union that the issue is in. */
function errorsOf(
  issue: z.core.$ZodIssue,
  source: InputSource,
  above: readonly PropertyKey[] = [],
): FieldError[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") return unknownFields(issue, path, source);
  if (issue.code === "invalid_union") {
    const nearest = furthest(issue.errors);
    if (nearest !== undefined) return nearest.flatMap((each) => errorsOf(each, source, path));
  }
  const { locate = inBody } = source;
  return [{ ...locate(path), ...explain(issue) }];
}

/** Returns an error for each unknown field of the object at `path`. */
function unknownFields(
  { keys, message, input }: z.core.$ZodIssueUnrecognizedKeys,
  path: readonly PropertyKey[],
  { locate = inBody, options = [] }: InputSource,
): FieldError[] {
  const known = knownFields(message);
  let isListed = false;
  return keys.slice(0, maxErrors).map((key) => {
    const where = locate([...path, key]);
    const isParameter = "parameter" in where;
    const beside = known.filter((each) => "parameter" in locate([...path, each]) === isParameter);
    const nearest = instead(key, beside, path.length === 0 ? options : []);
    if (nearest !== undefined) return unknownField(where, key, nearest);
    // The list can be long, so only the first error has it.
    const others = isListed ? [] : beside.filter((each) => !hasMember(input, each));
    isListed = true;
    return unknownField(where, key, listed(others, isParameter ? "parameters" : "fields"));
  });
}

/** Names the fields that the input could have besides those that it has. */
function listed(others: readonly string[], noun: string): string | undefined {
  return others.length === 0 ? undefined : `. Other ${noun}: ${others.join(", ")}.`;
}

function hasMember(input: unknown, name: string): boolean {
  return typeof input === "object" && input !== null && Object.hasOwn(input, name);
}

/** Says what to send in place of an unknown field. */
function instead(
  name: string,
  known: readonly string[],
  options: readonly string[],
): string | undefined {
  // Other names, such as `to`, are one letter away from the option `tx`.
  const likely = options.filter((option) => option.length > 2 || option === name);
  const nearest = nearestName(name, [...known, ...likely]);
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
      other.code === issue.code && limitOf(other) < limit && isSamePath(other.path, issue.path);
    return !issues.some(isStricter);
  });
}

const isSamePath = (a: readonly PropertyKey[], b: readonly PropertyKey[]): boolean =>
  a.length === b.length && a.every((segment, i) => segment === b[i]);

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
    ? { code: "required", message: required(message) }
    : { code: issue.code, message };
}

/** Turns the sentence about a wrong value into one about a missing value. */
function required(message: string): string {
  const rule = message.replace(/, got undefined$/, "");
  return rule.startsWith("must be ") ? `Required. It ${rule}.` : "Required.";
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
export function listOfFields(shape: z.core.$ZodShape): string {
  return Object.keys(shape).join(", ");
}

/** Returns the names that `listOfFields` has listed. None if the message is another one. */
export function knownFields(message: string): string[] {
  return message === "" || message.includes(":") ? [] : message.split(", ");
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

type TooSmall = Pick<
  z.core.$ZodIssueTooSmall,
  "origin" | "minimum" | "inclusive" | "exact" | "input"
>;
type TooBig = Pick<z.core.$ZodIssueTooBig, "origin" | "maximum" | "inclusive" | "exact" | "input">;

/** What the size of a value counts. The size of a number is the number itself. */
const units: Readonly<Record<string, string>> = { string: "character", array: "item" };

function atLeast({ origin, minimum, inclusive, exact, input }: TooSmall): string {
  const unit = units[origin];
  const got = `, got ${sizeOf(input)}`;
  if (unit !== undefined) {
    return `must have ${exact === true ? "exactly" : "at least"} ${counted(minimum, unit)}${got}`;
  }
  return `must be ${inclusive === false ? `more than ${minimum}` : `${minimum} or more`}${got}`;
}

function atMost({ origin, maximum, inclusive, exact, input }: TooBig): string {
  const unit = units[origin];
  const got = `, got ${sizeOf(input)}`;
  if (unit !== undefined) {
    return `must have ${exact === true ? "exactly" : "at most"} ${counted(maximum, unit)}${got}`;
  }
  return `must be ${inclusive === false ? `less than ${maximum}` : `${maximum} or less`}${got}`;
}

function sizeOf(input: unknown): string {
  return typeof input === "string" || Array.isArray(input) ? String(input.length) : show(input);
}

function counted(count: number | bigint, unit: string): string {
  return `${count} ${unit}${Number(count) === 1 ? "" : "s"}`;
}
