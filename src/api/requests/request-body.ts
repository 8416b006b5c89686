/** Reads the bodies of requests, within limits. */
import {
  bodyTooLarge,
  inBody,
  invalid,
  maxErrors,
  TidingsError,
  unknownField,
  type FieldError,
  type Limits,
} from "../../kernel/index.ts";
import type { Guarded } from "../../operations/index.ts";
import { headerOf, type ApiBody, type ApiRequest } from "../http.ts";

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
function maxBodyBytes(
  route: Guarded,
  { bodyBytes, batchBodyBytes, messageCharacters }: Limits,
): number {
  if ("visitor" in route) {
    return Math.min(bodyBytes, visitorBytes + characterBytes * messageCharacters);
  }
  return "body" in route && route.body === "batch" ? batchBodyBytes : bodyBytes;
}

interface JsonOptions {
  readonly maxBytes: number;
  /** How deeply the body may be nested. */
  readonly maxDepth: number;
  /** Whether the endpoint also takes NDJSON. By default it does not. */
  readonly takesLines?: boolean;
}

/** Returns how the JSON body of a route is read. */
export function jsonOptions(route: Guarded, limits: Limits): JsonOptions {
  return {
    maxBytes: maxBodyBytes(route, limits),
    maxDepth: limits.jsonDepth,
    takesLines: "rows" in route,
  };
}

/**
 * Reads the body of a command: a JSON object. No body counts as an empty object. If a key is
 * repeated in an object, the last value counts, as in `JSON.parse` (RFC 8259, section 4).
 * @throws TidingsError `unsupported_media_type`, `body_too_large`, `malformed_json`,
 *   `validation_failed`
 */
export async function readJson(request: ApiRequest, options: JsonOptions): Promise<JsonObject> {
  const { maxBytes, maxDepth, takesLines = false } = options;
  const { headers } = request;
  const type = headerOf(headers, "content-type");
  if (type !== undefined && !json.test(type)) throw notJson(takesLines);
  refuseEncoded(headers);
  refuseTooLarge(headers, maxBytes);
  const body = await request.body(maxBytes);
  const value = parsed(body, type, options);
  checkDepth(value, maxDepth);
  if (!isObject(value) || Array.isArray(value)) {
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
  if (bytes.length > limit) throw bodyTooLarge(limit);
  return bytes;
}

export function refuseEncoded(headers: readonly string[]): void {
  const encoding = headerOf(headers, "content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw new TidingsError("unsupported_media_type", "Send the body without a content encoding.");
}

/** Checks the declared length before reading the body. */
function refuseTooLarge(headers: readonly string[], limit: number): void {
  if (Number(headerOf(headers, "content-length") ?? 0) > limit) throw bodyTooLarge(limit);
}

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
  { maxBytes, takesLines = false }: JsonOptions,
): unknown {
  // A text or raw body parser leaves a string or bytes that still need parsing.
  const source = body.kind === "bytes" ? body.bytes : body.value;
  if (typeof source !== "string" && !(source instanceof Uint8Array)) return source;
  if (Buffer.byteLength(source) > maxBytes) throw bodyTooLarge(maxBytes);
  if (source.length === 0) return {};
  if (type === undefined) throw notJson(takesLines);
  return parseJson(typeof source === "string" ? source : decodeUtf8(source, "body"), "body");
}

/** @throws TidingsError `malformed_json` */
export function decodeUtf8(bytes: Uint8Array, name: "body" | "line"): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new TidingsError("malformed_json", `The ${name} is not valid UTF-8.`);
  }
}

/** @throws TidingsError `malformed_json` */
export function parseJson(text: string, name: "body" | "line"): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may hold secrets.
    throw new TidingsError("malformed_json", `The ${name} is not valid JSON.`);
  }
}

/**
 * Limits the nesting depth, because later code recurses. Refuses `__proto__` everywhere, because
 * map schemas would drop it silently.
 */
export function checkDepth(value: unknown, depth: number): void {
  const path: string[] = [];
  const errors: FieldError[] = [];
  const walk = (of: object): void => {
    if (path.length === depth) throw tooDeep(path);
    if (Array.isArray(of)) {
      for (const [i, each] of of.entries()) enter(String(i), each);
      return;
    }
    // Faster than `Object.entries` for the many fields that a body may have.
    for (const key of Object.keys(of)) enter(key, (of as JsonObject)[key]);
  };
  const enter = (key: string, each: unknown): void => {
    const isForbidden = key === "__proto__";
    if (!isForbidden && !isObject(each)) return;
    path.push(key);
    if (isForbidden) errors.push(unknownField(inBody(path), key));
    else if (isObject(each)) walk(each);
    path.pop();
  };
  if (isObject(value)) walk(value);
  if (errors.length > 0) throw invalid(errors.slice(0, maxErrors));
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function tooDeep(path: readonly string[]): TidingsError {
  const message = `is nested too deeply: at most ${path.length} levels of objects and lists`;
  return invalid([{ ...inBody(path), code: "too_deep", message }]);
}
