import {
  type FieldError,
  type FieldPlace,
  inBody,
  inQuery,
  invalid,
  type Limits,
  maxErrors,
  parse,
  type Place,
  TidingsError,
  unknownField,
} from "../kernel/index.ts";
import { type ApiBody, type ApiRequest, headerOf } from "./http.ts";
import type * as z from "zod";
import { type Guarded, idempotencyKeyOf, isIdempotencyKey } from "../operations/index.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const charset = /;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*/;
const json = new RegExp(
  String.raw`^application/(?:[\w.+-]+\+)?json[ \t]*(?:${charset.source})?$`,
  "i",
);

/** The bytes of a visitor's body besides the text of a message. */
const visitorBytes = 4_096;
/** The bytes of one character in JSON, at most: two escapes of six bytes. */
const characterBytes = 12;

/** How large the body of a request may be. Visitors are anonymous, and parsing costs much time. */
export function maxBodyBytes(
  route: Guarded,
  { bodyBytes, batchBodyBytes, messageCharacters }: Limits,
): number {
  if ("visitor" in route) {
    return Math.min(bodyBytes, visitorBytes + characterBytes * messageCharacters);
  }
  return "body" in route && route.body === "batch" ? batchBodyBytes : bodyBytes;
}

/**
 * Reads the body of a command: a JSON object. No body counts as an empty object. If a key is
 * repeated in an object, the last value counts, as in `JSON.parse` (RFC 8259, section 4).
 * `takesLines` is true if the endpoint also takes NDJSON.
 * @throws TidingsError `unsupported_media_type`, `body_too_large`, `malformed_json`,
 *   `validation_failed`
 */
export async function readJson(
  request: ApiRequest,
  limit: number,
  depth: number,
  takesLines = false,
): Promise<JsonObject> {
  const { headers } = request;
  const type = headerOf(headers, "content-type");
  if (type !== undefined && !json.test(type)) throw notJson(takesLines);
  refuseEncoded(headers);
  refuseTooLarge(headers, limit);
  const body = await request.body(limit);
  const value = parsed(body, type, limit, takesLines);
  checkDepth(value, depth);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([{ pointer: "", code: "invalid_type", message: "must be a JSON object" }]);
  }
  return value as JsonObject;
}

/**
 * Reads the bytes of a body whose signature covers them. They are not parsed.
 * @throws TidingsError `body_too_large`; `invalid_option` when a body parser kept no bytes
 */
export async function readBytes(request: ApiRequest, limit: number): Promise<Uint8Array> {
  refuseTooLarge(request.headers, limit);
  const { bytes } = await request.body(limit);
  if (bytes === undefined) {
    throw new TidingsError(
      "invalid_option",
      "A body parser before tidings kept no bytes of this body, and its signature covers the " +
        "bytes. Mount tidings before the body parser, or keep the bytes as `rawBody` (in " +
        "body-parser: `verify: (req, res, bytes) => { req.rawBody = bytes }`).",
    );
  }
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

export function refuseEncoded(headers: readonly string[]): void {
  const encoding = headerOf(headers, "content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw new TidingsError("unsupported_media_type", "Send the body without a content encoding.");
}

/** Checks the declared length before reading the body. */
export function refuseTooLarge(headers: readonly string[], limit: number): void {
  if (Number(headerOf(headers, "content-length") ?? 0) > limit) throw tooLarge(limit);
}

const tooLarge = (limit: number): TidingsError =>
  new TidingsError("body_too_large", `The body is larger than ${limit} bytes.`);

function notJson(takesLines: boolean): TidingsError {
  const lines = takesLines ? " or `application/x-ndjson`" : "";
  return new TidingsError(
    "unsupported_media_type",
    `Send the body as \`Content-Type: application/json\`${lines}, in UTF-8.`,
  );
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsed(
  body: ApiBody,
  type: string | undefined,
  limit: number,
  takesLines: boolean,
): unknown {
  // A text or raw body parser leaves a string or bytes that still need parsing.
  const source = body.kind === "bytes" ? body.bytes : body.value;
  if (typeof source !== "string" && !(source instanceof Uint8Array)) return source;
  if (Buffer.byteLength(source) > limit) throw tooLarge(limit);
  if (source.length === 0) return {};
  if (type === undefined) throw notJson(takesLines);
  try {
    return JSON.parse(typeof source === "string" ? source : utf8.decode(source));
  } catch {
    // The parser's message quotes the body, which may hold secrets.
    throw new TidingsError("malformed_json", "The body is not valid JSON in UTF-8.");
  }
}

/**
 * Limits the nesting depth, because later code recurses. Refuses `__proto__` everywhere, because
 * map schemas would drop it silently.
 */
export function checkDepth(value: unknown, depth: number): void {
  const errors: FieldError[] = [];
  walk(value, depth, [], errors);
  if (errors.length > 0) throw invalid(errors.slice(0, maxErrors));
}

function walk(value: unknown, left: number, path: string[], errors: FieldError[]): void {
  if (typeof value !== "object" || value === null) return;
  if (left === 0) {
    throw invalid([
      { ...inBody(path), code: "too_deep", message: "The body is nested too deeply." },
    ]);
  }
  if (Array.isArray(value)) {
    for (const [i, each] of value.entries()) within(each, String(i), left, path, errors);
    return;
  }
  for (const [key, each] of Object.entries(value)) within(each, key, left, path, errors);
}

function within(
  value: unknown,
  key: string,
  left: number,
  path: string[],
  errors: FieldError[],
): void {
  const forbidden = key === "__proto__";
  if (!forbidden && (typeof value !== "object" || value === null)) return;
  path.push(key);
  if (forbidden) errors.push(unknownField(inBody(path), key));
  else walk(value, left - 1, path, errors);
  path.pop();
}

type Params = Readonly<Record<string, string>>;
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
    ...Object.keys(query).map((name) => unknownField(inQuery([name]), name)),
  ];
  const place: Place = (path) => (isParam(path, params) ? inQuery(path) : inBody(path));
  return parse(schema, { ...body, ...params }, { place, errors });
}

/** Commands take no query. */
export function refuseQuery(query: Fields): void {
  const errors = Object.keys(query).map((name) => unknownField(inQuery([name]), name));
  if (errors.length > 0) throw invalid(errors);
}

/** Combines path and query parameters. */
export function queryInput<Input>(
  schema: z.ZodType<Input>,
  query: Fields,
  params: Params,
  place: Place = inQuery,
): Input {
  const repeated = Object.keys(params).filter((name) => Object.hasOwn(query, name));
  const errors = repeated.map((name) => unknownField(inQuery([name]), name));
  try {
    return parse(schema, { ...query, ...params }, { place, errors });
  } catch (error) {
    throw withPlusExplained(error, query);
  }
}

/** A phone number, or a time with an offset, whose plus sign arrived as a space. */
const lostPlus = /^ \d|T[\d:.]+ \d\d:?\d\d$/;

/** Says how to send a plus sign, if that is why a parameter is wrong. */
function withPlusExplained(error: unknown, query: Fields): unknown {
  if (!(error instanceof TidingsError)) return error;
  const isLost = ({ parameter }: FieldError): boolean => {
    const value = parameter === undefined ? undefined : query[parameter];
    return typeof value === "string" && lostPlus.test(value);
  };
  if (!error.errors.some(isLost)) return error;
  return invalid(
    error.errors.map((each) =>
      isLost(each) ? { ...each, message: `${each.message}. Send a plus sign as %2B` } : each,
    ),
  );
}

/**
 * The input of a stream, and where its fields came from. A reconnecting client repeats the URL, so
 * the header `Last-Event-ID` is newer than the query.
 */
export function resumedInput(
  query: Fields,
  header: string | undefined,
): { readonly fields: Fields; readonly place: Place } {
  if (header === undefined || header === "") return { fields: query, place: inQuery };
  return {
    fields: { ...query, last_event_id: header },
    place: (path) => (path[0] === "last_event_id" ? { header: "Last-Event-ID" } : inQuery(path)),
  };
}

/** Says where the caller sent the fields that an operation found wrong in its input. */
export function withPlaces(error: unknown, place: Place): unknown {
  if (!(error instanceof TidingsError) || error.code !== "validation_failed") return error;
  return invalid(
    error.errors.map(({ pointer, code, message, ...others }) =>
      pointer === undefined
        ? { ...others, code, message }
        : { ...place(pointer.split("/").slice(1)), code, message },
    ),
  );
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

/**
 * Decodes the parameters of a query. A repeated parameter becomes a list. `__proto__` is an
 * ordinary name.
 */
export function parseQuery(query: string): Readonly<Record<string, string | readonly string[]>> {
  if (query === "") return {};
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    const all = values.get(name);
    if (all === undefined) values.set(name, [value]);
    else all.push(value);
  }
  const scalar = (all: readonly string[]): string | readonly string[] =>
    all.length === 1 ? (all[0] ?? "") : all;
  return Object.fromEntries([...values].map(([name, all]) => [name, scalar(all)]));
}

const decode = (text: string): string =>
  percentDecoded(text.includes("+") ? text.replaceAll("+", " ") : text);

/** @throws TidingsError `malformed_request` when it is not percent-encoded UTF-8 */
function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TidingsError("malformed_request", "The URL is not valid percent-encoded UTF-8.");
  }
}

/** The query parameter for a visitor's token when it cannot be sent as a header. */
export const tokenField = "token";

export const idempotencyField = "idempotency_key";

/**
 * Returns the idempotency key of a command, from the header or from the body.
 * @throws TidingsError `malformed_request` when it is not 1 to 255 visible ASCII characters, or
 *   when header and body differ
 */
export function idempotencyKey(header: string | undefined, field: unknown): string | null {
  const place = { header: "Idempotency-Key" };
  const fromHeader = header === undefined ? null : (idempotencyKeyOf(header) ?? refuse(place));
  const fromField =
    field === undefined ? null : isKey(field) ? field : refuse({ pointer: `/${idempotencyField}` });
  if (fromHeader !== null && fromField !== null && fromHeader !== fromField) {
    return refuse(
      place,
      "differs",
      "The Idempotency-Key header and the field idempotency_key differ. Send one of them.",
    );
  }
  return fromHeader ?? fromField;
}

/**
 * Refuses a key for NDJSON requests. Their input is unknown at the start, and repeating them is
 * safe.
 */
export function refuseKey(header: string | undefined): void {
  if (header === undefined) return;
  refuse(
    { header: "Idempotency-Key" },
    "not_taken",
    "NDJSON requests take no idempotency key. Remove it: repeating the request is safe.",
  );
}

const isKey = (field: unknown): field is string =>
  typeof field === "string" && isIdempotencyKey(field);

function refuse(
  place: FieldPlace,
  code = "invalid_format",
  message = "An idempotency key is 1 to 255 visible ASCII characters.",
): never {
  throw new TidingsError("malformed_request", message, { errors: [{ ...place, code, message }] });
}
