/** Idempotency keys: which are valid, and how they are stored. */
import { describe, invalid } from "../../kernel/index.ts";
import type { Caller } from "../caller.ts";

/** 1 to 255 visible ASCII characters (VCHAR of RFC 5234). */
export function isIdempotencyKey(key: unknown): key is string {
  return typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key);
}

export const validKey = "1 to 255 visible ASCII characters, without spaces";

/** Says what is wrong with a key, without its text, which may be personal data. */
export function describeWrongKey(key: unknown): string {
  if (typeof key !== "string") return describe(key);
  if (key.length === 0 || key.length > 255) return `${key.length} characters`;
  const at = key.search(/[^\x21-\x7e]/);
  // Only in a header: there, a key in quotes can be empty, or its quotes can be wrong.
  if (at === -1) return "a quoted text that is empty or not complete";
  const code = key.codePointAt(at) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `${key[at] === " " ? "a space" : name} at character ${at + 1}`;
}

/**
 * Returns the text under which the key of a caller is stored and shown. The keys of programs have
 * no spaces and are stored unchanged. An operator's or visitor's key has two spaces, and a step
 * adds one, so keys of different origins are never equal.
 */
export function storedKey(caller: Caller, key: string): string {
  switch (caller.type) {
    case "key":
    case "host":
      return key;
    case "operator":
      return `operator ${encodeURIComponent(caller.operator.id)} ${key}`;
    case "visitor":
      return `visitor ${caller.session_id} ${key}`;
  }
}

/** Returns the stored key of a step of a procedure. `of` is the stored key of the request. */
export function stepKey(of: string, step: number): string {
  return `${of} ${step}`;
}

/**
 * Checks the key of an in-process call. Returns null if the call has none.
 * @throws TidingsError `validation_failed`
 */
export function checkedKey(key: unknown): string | null {
  if (key === undefined) return null;
  if (isIdempotencyKey(key)) return key;
  const code = typeof key === "string" ? "format" : "invalid_type";
  const message = `must be a string of ${validKey}, got ${describeWrongKey(key)}`;
  throw invalid([{ parameter: "idempotencyKey", code, message }]);
}

/**
 * Returns the key in an `Idempotency-Key` header: bare, or a quoted string (RFC 9651, 3.3.3) as in
 * draft-ietf-httpapi-idempotency-key-header. Returns null if the header is not valid.
 */
export function idempotencyKeyOf(header: string): string | null {
  const key = header.startsWith('"') ? unquoted(header) : header;
  return isIdempotencyKey(key) ? key : null;
}

function unquoted(header: string): string | null {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header) ?? [];
  return inner?.replaceAll(/\\(.)/g, "$1") ?? null;
}
