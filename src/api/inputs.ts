import type { z } from "zod";
import { inBody, inQuery, invalid, parse, type Place, unknownField } from "../kernel/index.ts";
import { percentDecoded } from "./query-string.ts";

type Params = Readonly<Record<string, string>>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Path parameters and body in one. A body that repeats a path parameter's name is refused: one of the two would
 * silently not count. So is a query, which commands don't have.
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
    ...Object.keys(query).map((name) => unknownField(inQuery([name]), name)),
  ];
  const place: Place = (path) => (isParam(path, params) ? inQuery(path) : inBody(path));
  return parse(schema, { ...body, ...params }, place, errors);
}

/** Commands don't have one. */
export function refuseQuery(query: Fields): void {
  const errors = Object.keys(query).map((name) => unknownField(inQuery([name]), name));
  if (errors.length > 0) throw invalid(errors);
}

/** Path and query parameters in one. */
export function queryInput<Input>(schema: z.ZodType<Input>, query: Fields, params: Params): Input {
  const repeated = Object.keys(params).filter((name) => Object.hasOwn(query, name));
  const errors = repeated.map((name) => unknownField(inQuery([name]), name));
  return parse(schema, { ...query, ...params }, inQuery, errors);
}

export function decodedParams(params: Params): Params {
  for (const value of Object.values(params)) {
    if (value.includes("%")) {
      return Object.fromEntries(
        Object.entries(params).map(([name, each]) => [name, percentDecoded(each)]),
      );
    }
  }
  return params;
}

const isParam = ([name]: readonly PropertyKey[], params: Params): boolean =>
  typeof name === "string" && Object.hasOwn(params, name);
