import { invalid, type WebchatSessionId } from "../kernel/index.ts";

/** 1 to 255 visible ASCII characters (VCHAR of RFC 5234). */
export function isIdempotencyKey(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

/** An idempotency key, and what it is a key of. */
export type IdempotencyKey =
  /** A key that an account's caller chose. */
  | { readonly by: "caller"; readonly key: string }
  /** A key that a visitor's browser chose. It is the session's own, and cannot meet a key of the account. */
  | { readonly by: "visitor"; readonly session_id: WebchatSessionId; readonly key: string }
  /** A step of a procedure. `of` is the stored key of the whole request. */
  | { readonly by: "step"; readonly of: string; readonly step: number };

/**
 * The text under which a key is stored and shown. Keys that callers choose have no spaces and are stored as they are. A
 * visitor's has two spaces, and a step adds one, so no two kinds are ever equal.
 */
export function storedKey(key: IdempotencyKey): string {
  switch (key.by) {
    case "caller":
      return key.key;
    case "visitor":
      return `visitor ${key.session_id} ${key.key}`;
    case "step":
      return `${key.of} ${key.step}`;
  }
}

/**
 * The key of a call in process; null when it has none.
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
