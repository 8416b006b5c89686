import type { z } from "zod";
import { type FieldError, type FieldPlace, invalid } from "./errors.ts";

/** Converts a path into the parsed input to the place where the caller sent the field. */
export type Place = (path: readonly PropertyKey[]) => FieldPlace;

const maxErrors = 100;

/** Returns an error for each invalid field, at most 100. */
function fieldErrors(issues: readonly z.core.$ZodIssue[], place: Place): FieldError[] {
  return issues.flatMap((issue) => flatten(issue, place, [])).slice(0, maxErrors);
}

/**
 * Parses a value by a schema. `errors` are errors that the caller already found.
 * @throws TidingsError `validation_failed`, with every error
 */
export function parse<Input>(
  schema: z.ZodType<Input>,
  value: unknown,
  place: Place = inBody,
  errors: readonly FieldError[] = [],
): Input {
  const result = schema.safeParse(value, { reportInput: true });
  if (!result.success) throw invalid([...errors, ...fieldErrors(result.error.issues, place)]);
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

export const unknownField = (place: FieldPlace, name: string): FieldError => ({
  ...place,
  code: "unknown_field",
  message: `Unknown field "${brief(name)}". Remove it.`,
});

/** Shortens a name that the caller chose, before an error repeats it. */
const brief = (name: string): string => (name.length > 64 ? `${name.slice(0, 64)}…` : name);

function flatten(
  issue: z.core.$ZodIssue,
  place: Place,
  above: readonly PropertyKey[],
): FieldError[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxErrors).map((key) => unknownField(place([...path, key]), key));
  }
  if (issue.code === "invalid_union") {
    const nearest = furthest(issue.errors);
    if (nearest !== undefined) return nearest.flatMap((each) => flatten(each, place, path));
  }
  return [{ ...place(path), ...explain(issue) }];
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
  switch (issue.code) {
    case "invalid_type":
      // `input` is present because `parse` sets `reportInput`.
      return issue.input === undefined
        ? { code: "required", message: "Required." }
        : { code: issue.code, message };
    case "custom": {
      const code: unknown = issue.params?.["code"];
      return { code: typeof code === "string" ? code : "invalid", message };
    }
    default:
      return { code: issue.code, message };
  }
}
