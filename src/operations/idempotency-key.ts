import { invalid } from "../kernel/errors.ts";

/** 1 to 255 visible ASCII characters (VCHAR of RFC 5234). */
export function isIdempotencyKey(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

/**
 * The key of a call in process, where there is one.
 * @throws TidingsError `validation_failed`
 */
export function checkedKey(key: string | undefined): string | null {
  if (key === undefined) return null;
  if (isIdempotencyKey(key)) return key;
  throw invalid([
    {
      parameter: "idempotencyKey",
      code: "format",
      message: "must be 1 to 255 visible ASCII characters",
    },
  ]);
}

/**
 * The key of an `Idempotency-Key` header: bare, or a quoted string (RFC 9651, 3.3.3) as
 * draft-ietf-httpapi-idempotency-key-header has it. Null when it is neither.
 */
export function idempotencyKeyOf(header: string): string | null {
  const key = header.startsWith('"') ? unquoted(header) : header;
  return key !== null && isIdempotencyKey(key) ? key : null;
}

function unquoted(header: string): string | null {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header) ?? [];
  return inner?.replaceAll(/\\(.)/g, "$1") ?? null;
}
