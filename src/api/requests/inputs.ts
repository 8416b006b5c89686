/** The inputs of operations, from the parts of a request. */
import type * as z from "zod";
import {
  inBody,
  inQuery,
  invalid,
  maxErrors,
  parse,
  TidingsError,
  unknownField,
  type FieldError,
  type Locate,
} from "../../kernel/index.ts";
import type { Params } from "./url-parameters.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Combines path parameters and body. A body field with the name of a path parameter is refused,
 * because one of the two would be ignored silently. A query is refused too.
 * @throws TidingsError `validation_failed`
 */
export function commandInput<Input>(
  schema: z.ZodType<Input>,
  body: Fields,
  params: Params,
  query: Fields,
): Input {
  const repeated = Object.keys(params).filter((name) => Object.hasOwn(body, name));
  const errors = [
    ...repeated.map((name) => unknownField(inBody([name]), name)),
    ...Object.keys(query).map(unknownParameter),
  ];
  const locate: Locate = (path) => (isParam(path, params) ? inQuery(path) : inBody(path));
  // The body is copied only if it has to be: it may have very many fields.
  const input = Object.keys(params).length === 0 ? body : { ...body, ...params };
  return parse(schema, input, { locate, errors });
}

const unknownParameter = (name: string): FieldError => unknownField(inQuery([name]), name);

/** Commands take no query. */
export function refuseQuery(query: Fields): void {
  const errors = Object.keys(query).map(unknownParameter);
  if (errors.length > 0) throw invalid(errors.slice(0, maxErrors));
}

/** Combines path and query parameters. */
export function queryInput<Input>(
  schema: z.ZodType<Input>,
  query: Fields,
  params: Params,
  locate: Locate = inQuery,
): Input {
  const repeated = Object.keys(params).filter((name) => Object.hasOwn(query, name));
  const errors = repeated.map(unknownParameter);
  try {
    return parse(schema, { ...query, ...params }, { locate, errors });
  } catch (error) {
    throw withParametersExplained(error, query);
  }
}

/** A phone number, or a time with an offset, whose plus sign arrived as a space. */
const lostPlus = /^ \d|T[\d:.]+ \d\d:?\d\d$/;

/** The codes of errors that a parameter which takes a list can have, and of unknown ones. */
const aboutLists: ReadonlySet<string> = new Set(["too_small", "too_big", "unknown_field"]);

/** Says how to send a parameter, if that is why it is wrong. */
function withParametersExplained(error: unknown, query: Fields): unknown {
  if (!(error instanceof TidingsError)) return error;
  const errors = error.errors.map((each) => explained(each, query));
  return errors.every((each, i) => each === error.errors[i]) ? error : invalid(errors);
}

function explained(error: FieldError, query: Fields): FieldError {
  const value = error.parameter === undefined ? undefined : query[error.parameter];
  if (Array.isArray(value) && !aboutLists.has(error.code)) {
    return { ...error, message: `must be given once, got it ${value.length} times` };
  }
  if (typeof value === "string" && lostPlus.test(value)) {
    return { ...error, message: `${error.message}. Send a plus sign as %2B` };
  }
  return error;
}

/**
 * The input of a stream, and where its fields came from. A reconnecting client repeats the URL, so
 * the header `Last-Event-ID` is newer than the query.
 */
export function resumedInput(
  query: Fields,
  header: string | undefined,
): { readonly fields: Fields; readonly locate: Locate } {
  if (header === undefined || header === "") return { fields: query, locate: inQuery };
  return {
    fields: { ...query, last_event_id: header },
    locate: (path) => (path[0] === "last_event_id" ? { header: "Last-Event-ID" } : inQuery(path)),
  };
}

/** Says where the caller sent the fields that an operation found wrong in its input. */
export function withPlaces(error: unknown, locate: Locate): unknown {
  if (!(error instanceof TidingsError) || error.code !== "validation_failed") return error;
  return invalid(
    error.errors.map(({ pointer, code, message, ...others }) =>
      pointer === undefined
        ? { ...others, code, message }
        : { ...locate(pointer.split("/").slice(1)), code, message },
    ),
  );
}

const isParam = ([name]: readonly PropertyKey[], params: Params): boolean =>
  typeof name === "string" && Object.hasOwn(params, name);
